import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;

/** Deletes all messages of a topic's first partition, as retention does: Kafka's own tool for it is in no jar of the lab. */
class Empty {
    public static void main(String[] args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[1]))) {
            admin.deleteRecords(Map.of(new TopicPartition(args[2], 0), RecordsToDelete.beforeOffset(-1))).all().get();
        }
    }
}
