// Prints the listing every two seconds: java poll.java [COUNT]
// BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.
// Prints the answer as it is, because Java reads no JSON by itself. Use the library that your
// program has, such as Gson in a plugin.

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

class Poll {
    static final int ATTEMPTS_MAX = 5;
    static final long WAIT_MAX_SECONDS = 30;
    static final Duration TIMEOUT = Duration.ofSeconds(10);
    static final Set<Integer> TRANSIENT = Set.of(408, 429, 502, 503);

    static final String URL = variable("BASE_URL").replaceAll("/+$", "") + "/v1/servers";
    static final String KEY = variable("SERVER_LISTING_KEY");
    // Without HTTP/2, each poll uses the same connection.
    static final HttpClient CLIENT =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Asks until the list comes, at most ATTEMPTS_MAX times. */
    static String loadServers() throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            long retryAfter = 0;
            try {
                HttpResponse<String> answer = ask();
                int status = answer.statusCode();
                if (status == 200) return answer.body();
                if (attempt == ATTEMPTS_MAX || !TRANSIENT.contains(status))
                    throw new IllegalStateException("The API answered " + status);
                String seconds = answer.headers().firstValue("Retry-After").orElse("");
                if (seconds.matches("\\d{1,9}")) retryAfter = Long.parseLong(seconds);
            } catch (IOException error) { // no connection, or no answer in time
                if (attempt == ATTEMPTS_MAX) throw error;
            }
            // 1, 2, 4 ... seconds, and never less than Retry-After.
            long wait = Math.min(1L << (attempt - 1), WAIT_MAX_SECONDS);
            TimeUnit.SECONDS.sleep(Math.max(retryAfter, wait));
        }
    }

    /** The time limit is that of the whole answer. HttpRequest's own ends with the headers. */
    static HttpResponse<String> ask() throws IOException, InterruptedException {
        HttpRequest request =
            HttpRequest.newBuilder(URI.create(URL)).header("Authorization", "Bearer " + KEY).build();
        try {
            return CLIENT.sendAsync(request, BodyHandlers.ofString())
                .get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException error) {
            throw new IOException("The API does not answer", error);
        }
    }

    static String variable(String name) {
        String value = System.getenv(name);
        return value == null ? "" : value.strip();
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        // Checked here, because HttpRequest prints a header that it refuses.
        if (!KEY.matches("svc_live_[0-9a-f]{64}")) {
            System.err.println("SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits");
            System.exit(2);
        }
        // Java would replace what the terminal's encoding lacks.
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (int left = arguments.length > 0 ? Integer.parseInt(arguments[0]) : -1; left != 0; left--) {
            out.println(loadServers());
            if (left != 1) TimeUnit.SECONDS.sleep(2);
        }
    }
}
