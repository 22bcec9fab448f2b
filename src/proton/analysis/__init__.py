"""Analysis: functions from Profile to Profile or to plain findings. Never prints."""
