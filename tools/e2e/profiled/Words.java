import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Counts invented words on two threads, so that a Java Flight Recording has something to show. */
public final class Words {
    private static String word(Random random) {
        StringBuilder b = new StringBuilder();
        for (int i = 2 + random.nextInt(3); i > 0; i--) {
            b.append((char) ('a' + random.nextInt(26)));
        }
        return b.toString();
    }

    private static Map<String, Integer> count(Random random, int words) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < words; i++) {
            counts.merge(word(random), 1, Integer::sum);
        }
        return counts;
    }

    private static int sorted(Map<String, Integer> counts) {
        return new TreeMap<>(counts).firstKey().hashCode();
    }

    public static void main(String[] args) throws InterruptedException {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            final int seed = t;
            threads[t] = new Thread(() -> {
                Random random = new Random(seed);
                int sum = 0;
                while (System.nanoTime() < end) {
                    sum += sorted(count(random, 50_000));
                }
                System.out.println(sum);
            }, "counter-" + t);
            threads[t].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }
}
