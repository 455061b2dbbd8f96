"""What each kind of statement is called in a file, and the formats of it that are written and read.

A format never changes: a field that is added, and a sentence that is worded otherwise, make its number grow. Here are
words and numbers alone, so that whoever asks of which kind a file is loads nothing that makes one.
"""

TABLE_KIND, TABLE_FORMAT = "utmost table release", 4
TOGETHER_KIND, TOGETHER_FORMAT = "utmost release of cells changed together", 3
PLACES_KIND, PLACES_FORMAT = "utmost places release", 3
WORKLOAD_KIND, WORKLOAD_FORMAT = "utmost workload release", 2
WORKLOAD_TABLE_KIND = "utmost workload table"
DETAILED_KIND = "utmost release in two stages"
CLEAN_KIND, CLEAN_FORMAT = "utmost clean table", 2
WITHHELD_KIND, WITHHELD_FORMAT = "utmost withheld table", 2
KEYS_KIND, KEYS_FORMAT = "utmost named keys", 3
PROCESSED_KIND = "utmost processed release"
PROMISED_KIND = "utmost promised release"
ANSWERS_KIND, ANSWERS_FORMAT = "utmost answers", 1

FORMATS = {
    TABLE_KIND: (TABLE_FORMAT, 1),
    TOGETHER_KIND: (TOGETHER_FORMAT, 1),
    PLACES_KIND: (PLACES_FORMAT, 1),
    WORKLOAD_TABLE_KIND: (1, 1),
    CLEAN_KIND: (CLEAN_FORMAT, 1),
    WITHHELD_KIND: (WITHHELD_FORMAT, 1),
    KEYS_KIND: (KEYS_FORMAT, 1),
    PROCESSED_KIND: (1, 1),
    PROMISED_KIND: (1, 1),
    ANSWERS_KIND: (ANSWERS_FORMAT, 1),
}
"""Of each kind that stands beside a table the newest and the oldest format that is read."""
