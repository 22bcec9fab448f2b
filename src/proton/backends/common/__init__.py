"""What every backend is made of: the protocol, its knobs, records of autotuning."""
