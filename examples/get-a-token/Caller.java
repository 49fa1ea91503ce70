import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.Scanner;
import java.util.regex.Pattern;
import static java.nio.charset.StandardCharsets.UTF_8;

public class Caller {
    static final HttpClient client = HttpClient.newHttpClient();
    static String kept = "";
    static long renewAt = System.nanoTime();

    static String env(String name) {
        return System.getenv(name);
    }

    static void requestToken() throws IOException, InterruptedException {
        var account = URLEncoder.encode(env("CLIENT_ID"), UTF_8) + ":" + URLEncoder.encode(env("CLIENT_SECRET"), UTF_8);
        var request = HttpRequest.newBuilder(URI.create(env("BASE") + "/auth/token"))
            .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(account.getBytes(UTF_8)))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString("grant_type=client_credentials"))
            .timeout(Duration.ofSeconds(5));
        var answer = client.send(request.build(), BodyHandlers.ofString());
        // Without a JSON library: no value of this answer contains a quotation mark.
        var token = Pattern.compile("\"access_token\"\\s*:\\s*\"([^\"]+)\"").matcher(answer.body());
        var life = Pattern.compile("\"expires_in\"\\s*:\\s*(\\d+)").matcher(answer.body());
        if (answer.statusCode() != 200 || !token.find()) throw new IOException(answer.statusCode() + " " + answer.body());
        kept = token.group(1);
        renewAt = System.nanoTime() + (life.find() ? Long.parseLong(life.group(1)) * 900_000_000L : 0);
    }

    // Calls at the same time share one request.
    static synchronized String token(String refused) throws IOException, InterruptedException {
        if (kept.equals(refused) || System.nanoTime() - renewAt >= 0) requestToken();
        return kept;
    }

    static int call(String token) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(env("API"))).header("Authorization", "Bearer " + token);
        return client.send(request.timeout(Duration.ofSeconds(5)).build(), BodyHandlers.discarding()).statusCode();
    }

    static int callApi() throws IOException, InterruptedException {
        var used = token("");
        var status = call(used);
        return status == 401 ? call(token(used)) : status; // 401: the token was revoked
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (var lines = new Scanner(System.in); lines.hasNextLine(); lines.nextLine()) {
            try {
                System.out.println(callApi());
            } catch (IOException error) {
                System.out.println(error.getMessage());
            }
        }
    }
}
