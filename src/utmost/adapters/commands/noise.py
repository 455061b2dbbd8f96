def noise() -> None:
    """x"""
