"""The name of an instruction from its opcode bits, for machines without a disassembler.

The lowest 12 bits of an instruction are its opcode with the form of its operands. The table holds
what nvdisasm calls those of Triton's kernels and of a program with every common operation, compiled
for sm_70 to sm_120: none of them has different names there. Operands and modifiers are left out.
"""

from __future__ import annotations

_OPCODES = {
    "ATOMG": (
        0x3A8,
        0x3A9,
        0x9A8,
    ),
    "ATOMS": (
        0x38C,
        0x38D,
        0x98C,
    ),
    "BAR": (0xB1D,),
    "BMOV": (0x355,),
    "BPT": (0x95C,),
    "BRA": (
        0x547,
        0x947,
    ),
    "BREV": (0x301,),
    "BSSY": (0x945,),
    "BSYNC": (0x941,),
    "CALL": (0x944,),
    "CCTL": (0x98F,),
    "CGAERRBAR": (0x5AB,),
    "CREDUX": (0x2CC,),
    "CS2R": (0x805,),
    "CS2UR": (0x8CB,),
    "DADD": (0x229,),
    "DEPBAR": (0x91A,),
    "DFMA": (
        0x22B,
        0x42B,
        0x82B,
    ),
    "DMUL": (
        0x228,
        0x828,
    ),
    "DSETP": (0x22A,),
    "ELECT": (0x82F,),
    "ERRBAR": (0x9AB,),
    "EXIT": (0x94D,),
    "F2F": (
        0x304,
        0x310,
    ),
    "F2FP": (0x23E,),
    "F2I": (
        0x305,
        0x311,
    ),
    "FADD": (
        0x221,
        0x421,
    ),
    "FADD2": (0x24B,),
    "FCHK": (0x302,),
    "FENCE": (0x3C6,),
    "FFMA": (
        0x223,
        0x423,
        0x823,
    ),
    "FLO": (0x300,),
    "FMNMX": (0x209,),
    "FMNMX3": (0x276,),
    "FMUL": (
        0x220,
        0x820,
        0xC20,
    ),
    "FSEL": (0x208,),
    "FSETP": (
        0x20B,
        0x80B,
    ),
    "HADD2": (0x230,),
    "HFMA2": (
        0x231,
        0x431,
        0x435,
    ),
    "HGMMA": (0x9F0,),
    "HMMA": (0x23C,),
    "HMUL2": (0x232,),
    "HSETP2": (0x234,),
    "I2F": (
        0x306,
        0x312,
        0xB06,
        0xD06,
    ),
    "I2FP": (
        0x245,
        0xC45,
    ),
    "IABS": (0x213,),
    "IADD": (
        0x235,
        0x835,
        0xC35,
    ),
    "IADD3": (
        0x210,
        0x810,
        0xA10,
        0xC10,
    ),
    "IDP": (0x226,),
    "IMAD": (
        0x224,
        0x225,
        0x227,
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
    "IMNMX": (
        0x217,
        0x817,
        0xA17,
    ),
    "ISETP": (
        0x20C,
        0x80C,
        0xA0C,
        0xC0C,
    ),
    "LD": (0x980,),
    "LDC": (0xB82,),
    "LDCU": (0x7AC,),
    "LDG": (
        0x381,
        0x981,
    ),
    "LDGDEPBAR": (0x9AF,),
    "LDGSTS": (0xFAE,),
    "LDL": (0x983,),
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
        0xA12,
        0xC12,
    ),
    "MATCH": (0x3A1,),
    "MEMBAR": (0x992,),
    "MOV": (
        0x202,
        0x402,
        0x802,
        0xA02,
        0xC02,
    ),
    "MUFU": (
        0x308,
        0x908,
        0xD08,
    ),
    "NANOSLEEP": (0x95D,),
    "NOP": (0x918,),
    "P2R": (0x803,),
    "PLOP3": (0x81C,),
    "POPC": (0x309,),
    "PRMT": (0x816,),
    "QSPC": (0x3AA,),
    "R2UR": (0x2CA,),
    "RED": (0x98E,),
    "REDG": (0x9A6,),
    "REDUX": (0x3C4,),
    "RET": (0x950,),
    "S2R": (0x919,),
    "S2UR": (0x9C3,),
    "SEL": (
        0x207,
        0x807,
        0xA07,
    ),
    "SGXT": (0x81A,),
    "SHF": (
        0x219,
        0x819,
    ),
    "SHFL": (
        0x389,
        0xF89,
    ),
    "ST": (
        0x385,
        0x985,
    ),
    "STG": (
        0x386,
        0x986,
    ),
    "STL": (0x387,),
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
    "UI2F": (0x25A,),
    "UIADD3": (
        0x290,
        0x890,
        0x897,
    ),
    "UIMAD": (0x2A4,),
    "UISETP": (
        0x28C,
        0x88C,
    ),
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
    "VABSDIFF": (0x214,),
    "VIADD": (
        0x836,
        0xC36,
    ),
    "VIADDMNMX": (0x446,),
    "VIMNMX": (
        0x248,
        0x848,
        0xC48,
    ),
    "VOTE": (0x806,),
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
