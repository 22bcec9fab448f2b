"""What backends share: the protocol, knobs from the environment, records of autotuning."""
