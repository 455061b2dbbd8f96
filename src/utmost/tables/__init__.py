"""utmost.tables"""
