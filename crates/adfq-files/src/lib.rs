//! Files that are whole or absent, versioned and checksummed, and folders that one process holds at a time.
