import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;

/** Makes a plan's calls with openapi-generator's Java client. Prints each response as its models read it, as a line of JSON. */
public final class OpenapiGenerator {
  public static void main(String[] arguments) throws Exception {
    String key = arguments[1];
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    ObjectMapper json = ApiClient.createDefaultObjectMapper();
    for (JsonNode call : json.readTree(Path.of(arguments[2]).toFile())) {
      Map<String, Object> line = new LinkedHashMap<>();
      try {
        line.put("answer", answer(client, json, call));
      } catch (InvocationTargetException refused) {
        line.put("error", String.valueOf(refused.getCause()));
      }
      System.out.println(json.writeValueAsString(line));
    }
  }

  /** All parameters are positional, in the document's order. */
  private static Object answer(ApiClient client, ObjectMapper json, JsonNode call) throws Exception {
    Class<?> api = Class.forName("org.openapitools.client.api." + call.get("tag").asText() + "Api");
    JsonNode parameters = call.get("parameters");
    Method operation =
        Stream.of(api.getMethods())
            .filter(method -> method.getName().equals(call.get("operation").asText()))
            .filter(method -> method.getParameterCount() == parameters.size())
            .findFirst()
            .orElseThrow();
    Object[] values = new Object[parameters.size()];
    for (int at = 0; at < values.length; at++) {
      for (JsonNode argument : call.get("arguments")) {
        if (argument.get("name").equals(parameters.get(at))) {
          values[at] = json.convertValue(argument.get("value"), operation.getParameterTypes()[at]);
        }
      }
    }
    return operation.invoke(api.getConstructor(ApiClient.class).newInstance(client), values);
  }
}
