"""The name of an instruction from its opcode bits, for machines without a disassembler.

The lowest 12 bits of an instruction are its opcode with the form of its operands. The table holds
what nvdisasm calls those that Triton's kernels for sm_80, sm_90 and sm_100 consist of; no opcode
in it has different names on them. Operands and modifiers are left out: nvdisasm shows those.
"""

from __future__ import annotations

_OPCODES = {
    "ATOMS": (0x98C,),
    "BAR": (0xB1D,),
    "BPT": (0x95C,),
    "BRA": (0x947,),
    "BSSY": (0x945,),
    "BSYNC": (0x941,),
    "CALL": (0x944,),
    "CREDUX": (0x2CC,),
    "CS2R": (0x805,),
    "DEPBAR": (0x91A,),
    "ELECT": (0x82F,),
    "EXIT": (0x94D,),
    "F2FP": (0x23E,),
    "FADD": (
        0x221,
        0x421,
    ),
    "FENCE": (0x3C6,),
    "FMNMX": (0x209,),
    "FMNMX3": (0x276,),
    "FMUL": (
        0x220,
        0x820,
    ),
    "FSETP": (0x80B,),
    "HFMA2": (0x435,),
    "HGMMA": (0x9F0,),
    "HMMA": (0x23C,),
    "IADD3": (
        0x210,
        0x810,
        0xA10,
        0xC10,
    ),
    "IMAD": (
        0x224,
        0x424,
        0x624,
        0x625,
        0x824,
        0x825,
        0x827,
        0xA24,
        0xC24,
        0xE24,
    ),
    "ISETP": (
        0x20C,
        0x80C,
        0xA0C,
        0xC0C,
    ),
    "LDC": (0xB82,),
    "LDCU": (0x7AC,),
    "LDG": (0x981,),
    "LDGDEPBAR": (0x9AF,),
    "LDGSTS": (0xFAE,),
    "LDS": (0x984,),
    "LDSM": (0x83B,),
    "LDTM": (0x9EE,),
    "LEA": (
        0x211,
        0x811,
        0xA11,
        0xC11,
    ),
    "LOP3": (
        0x212,
        0x812,
        0xC12,
    ),
    "MOV": (
        0x802,
        0xA02,
        0xC02,
    ),
    "MUFU": (0x308,),
    "NANOSLEEP": (0x95D,),
    "NOP": (0x918,),
    "P2R": (0x803,),
    "PLOP3": (0x81C,),
    "R2UR": (0x2CA,),
    "REDUX": (0x3C4,),
    "RET": (0x950,),
    "S2R": (0x919,),
    "S2UR": (0x9C3,),
    "SEL": (
        0x207,
        0x807,
    ),
    "SGXT": (0x81A,),
    "SHF": (
        0x219,
        0x819,
    ),
    "SHFL": (0xF89,),
    "STG": (0x986,),
    "STS": (
        0x388,
        0x988,
    ),
    "STTM": (0x9ED,),
    "SYNCS": (
        0x5A7,
        0x5B2,
        0x9B1,
    ),
    "UFLO": (0x2BD,),
    "UIADD3": (
        0x290,
        0x890,
        0x897,
    ),
    "UISETP": (0x88C,),
    "ULDC": (0xAB9,),
    "ULEA": (0x291,),
    "ULOP3": (
        0x292,
        0x892,
    ),
    "UMOV": (
        0x882,
        0xC82,
    ),
    "USEL": (
        0x287,
        0x887,
    ),
    "USGXT": (0x89A,),
    "USHF": (0x899,),
    "UTCATOMSWS": (
        0x5E3,
        0x9E3,
    ),
    "UTCBAR": (0x3E9,),
    "UTCHMMA": (0x5EA,),
    "UVIRTCOUNT": (0x84C,),
    "VIADD": (
        0x836,
        0xC36,
    ),
    "VOTEU": (0x886,),
    "WARPGROUP": (0x9C5,),
    "WARPSYNC": (0x948,),
}
_NAMES = {opcode: name for name, opcodes in _OPCODES.items() for opcode in opcodes}
_OPCODE_MASK = 0xFFF


def mnemonic(code: bytes) -> str | None:
    """The name of the instruction whose 16 bytes are `code`; None where it is not known."""
    if len(code) != 16:
        return None
    return _NAMES.get(int.from_bytes(code[:2], "little") & _OPCODE_MASK)
