# Moves that balance the query nodes of by-dev @ cluster-2.3.5-t7, as of 2026-11-20T09:06:38Z
# Compactions replace segments, and Milvus's own balancer moves them: create the plan again if it is not from today.
from pymilvus import connections, utility

connections.connect(host="localhost", port="19530")  # a proxy of the cluster

# docs_hnsw_cos  replica 470591703694180354
# 3 moves bring max/mean from 1.34 to 1.23, rows 1.48 to 1.81; 1.10 is out of reach: no better split of its segments within the memory of its nodes
#    1  segment 470591703512190517  5,840 rows  3.2 MiB  13 -> 19
#    2  segment 470591703512190518  3,971 rows  2.2 MiB  10 -> 19
#    3  segment 470591703512390530  6,004 rows  3.5 MiB  14 -> 19
utility.load_balance("docs_hnsw_cos", 13, [19], [470591703512190517])
utility.load_balance("docs_hnsw_cos", 10, [19], [470591703512190518])
utility.load_balance("docs_hnsw_cos", 14, [19], [470591703512390530])

# items_hnsw_l2  replica 470591862487121921
# 3 moves bring max/mean from 1.58 to 1.07, rows 1.45 to 1.38
#    1  segment 470591703512190604  3,013 rows  3.0 MiB  13 -> 19
#    2  segment 470591703512190605  1,970 rows  2.0 MiB  13 -> 19
#    3  segment 470591703512190660  2,051 rows  2.1 MiB  13 -> 19
utility.load_balance("items_hnsw_l2", 13, [19], [470591703512190604, 470591703512190605, 470591703512190660])

# logs_ivf_l2  replica 470591703694180356
# 1 move brings max/mean from 2.00 to 1.01, rows 2.00 to 1.01
#    1  segment 470591703512190589  4,959 rows  1.2 MiB  10 -> 13
utility.load_balance("logs_ivf_l2", 10, [13], [470591703512190589])

# users_flat_ip  replica 470591862487121922
# 1 move brings max/mean from 1.96 to 1.02, rows 1.96 to 1.02
#    1  segment 470591703512190537  6,000 rows  1.5 MiB  13 -> 19
utility.load_balance("users_flat_ip", 13, [19], [470591703512190537])
