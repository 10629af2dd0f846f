# items_hnsw_l2  replica 470591862487121921
# 2 moves bring max/mean from 1.50 to 1.09, rows 1.39 to 1.32; fewer do not
# 1  segment 470591703512190604  3,013 rows  13 -> 19
# 2  segment 470591703512190605  1,970 rows  13 -> 19
from pymilvus import connections, utility
utility.load_balance("items_hnsw_l2", 13, [19], [470591703512190604, 470591703512190605])
