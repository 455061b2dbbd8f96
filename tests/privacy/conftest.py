from hypothesis import settings

# Exact rationals take as long as they take, and the machine may be busy: no example fails for being slow.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
