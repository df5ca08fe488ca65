import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Asks for a URL with the key by each version of HTTP, and prints the answers. */
public class Ask {
    public static void main(String[] words) throws Exception {
        for (var version : HttpClient.Version.values()) {
            var client = HttpClient.newBuilder().version(version).build();
            var request = HttpRequest.newBuilder(URI.create(words[0]))
                .header("Authorization", "Bearer " + System.getenv("TOKEN")).build();
            var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.print(answer.version() + " " + answer.body());
        }
    }
}
