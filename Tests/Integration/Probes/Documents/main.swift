import Foundation
import WebServiceClient

// Writes tables of many kinds as OpenAPI documents into a folder, for Tests/Integration/openapi-export, and prints what another reader must
// find in them: tab-separated file, key, method and path.

/// Paths, queries and headers of each kind.
final class Plain: WebServiceClient, @unchecked Sendable {
    override class var defaults: EndpointDefaults {
        var defaults = EndpointDefaults(
            serviceRoot: "https://%%tenant%%.example.com/v1/?api-version=2&key=hush",
            headers: ["X-Tenant": "%%tenant%%", "X-Api-Key": "hush"])
        defaults.perMethod[.post] = EndpointDefaults(headers: ["Prefer": "return=minimal", "Authorization": "Bearer hush"])
        return defaults
    }
    override class var endpoints: EndpointTable {
        [
            "root(tenant:)": .get(""),
            "repository(tenant:owner:name:)": .get("/repos/%%owner%%/%%name%%"),
            "remove(tenant:_:_:)": .delete("/repos/%%1%%/%%2%%"),
            "issues(tenant:state:)": .get("/issues?state=%%state%%&sort=created%20at&flag&q=is:%%state%%+x"),
            "issues(tenant:filter:page:)": .get("/issues").query(.argument(1)).query("page", .argument(2)),
            "search(tenant:text:tags:)": .get("/search").query(["q": "in:%%text%% $[x]", "kind": "a&b"]).query("tags", .argument(2))
                .arrays(.comma),
            "twice(tenant:id:)": .get("/a/%%id%%/b/%%id%%").query(["x": "1", "x": "2"]),
            "file(tenant:name:)": .get("/files/{x}/%%name%%.json"),
            "create(tenant:issue:)": .post("/issues").header("Idempotency-Key", "%%0%%").accepting(.created)
                .retry(RetryPolicy(attempts: 7)),
            "report(tenant:)": .endpoint("REPORT", "/issues").raw(),
            "head(tenant:)": .head("/issues").alsoAccepting(.notFound).alsoAccepting(.range(410...412)),
        ]
    }
}

/// RFC 6570's operators.
final class Templates: WebServiceClient, @unchecked Sendable {
    override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "http://localhost:8080") }
    override class var endpoints: EndpointTable {
        [
            "simple(a:b:)": .get(uriTemplate: "/s/{a}/{b:3}"), "pair(a:b:)": .get(uriTemplate: "/s/{a,b}"),
            "list(a:)": .get(uriTemplate: "/l{/a*}"), "segments(a:b:)": .get(uriTemplate: "/l{/a,b}"),
            "label(a:b:)": .get(uriTemplate: "/x{.a,b*}"), "matrix(a:b:)": .get(uriTemplate: "/m{;a,b*}"),
            "reserved(a:)": .get(uriTemplate: "/r/{+a}"), "query(a:b:c:)": .get(uriTemplate: "/q{?a,b*}{&c}"),
            "mixed(a:b:)": .get(uriTemplate: "/q?fixed=1&a={a}&t=x-{b}-y"), "positions(_:_:)": .get(uriTemplate: "/p/{0}{?1}"),
        ]
    }
}

/// Bodies, media types, statuses and attributes.
final class Settings: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "all()": .get("/all").accepting(.any), "none()": .get("/none").accepting([]), "far()": .get("/far").accepting([299, 700]),
            "form(_:)": .post("/form").serializer(FormSerializer()), "text(_:)": .put("/text").serializer(PlainTextSerializer()),
            "typed(_:)": .post("/typed").header("Content-Type", "application/vnd.a+json").header("Accept", "text/csv, text/plain;q=0.5"),
            "csv()": .get("/csv").decoding(with: PlainTextSerializer()), "delete(_:)": .delete("/delete").body(.argument(0)),
            "find(_:)": .get("/find").allowingBody(), "fields(_:)": .get("/fields").headers(.argument(0)),
            "basic(token:)": .get("/basic").header("Authorization", "Basic %%token%%").query(["token": "hush", "page": "%%token%%"]),
            "signed(_:)": .get("/signed").header("Authorization", "%%0%%").header("X-Custom", "quiet").header("Cookie", "a=b"),
            "limited()": .get("/limited").rateLimited(RateLimit(1, per: .seconds(1))).cached(for: .seconds(5)).priority(.high)
                .faults(FaultPlan()).hedged(after: .seconds(1)).coalesced().timeout(.seconds(5)).paged(by: .linkHeader),
            "socket()": .get("/socket").webSocket(), "ünïcode(_:)": .get("/ü/%%0%%"),
        ]
    }
}

/// Tables that `verify()` refuses have a document, too.
final class Faulty: WebServiceClient, @unchecked Sendable {
    override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "/") }
    override class var endpoints: EndpointTable {
        [
            "absolute()": .get("https://%%x%%.example.org/a?b=c"), "unclosed()": .get("/a/%%b"), "broken(": .get("/x/%%a%%"),
            "unknown(a:)": .get("/%%z%%").query("y", .argument("w")), "template(a:)": .get(uriTemplate: "/{a"),
            "fragment(a:)": .get("/f#%%a%%"), "whole(a:)": .get("%%a%%"), "name(a:)": .get("/n?%%a%%=1&&="), "": .get("/"),
            "odd()": .endpoint("", "//x//y"), "twice()": .get("/1"), "twice()": .get("/2"),
        ]
    }
}

let folder = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? ".", isDirectory: true)
for type in [Plain.self, Templates.self, Settings.self, Faulty.self] as [WebServiceClient.Type] {
    let description = type.describe()
    let file = "\(description.client).json"
    try description.openAPI(version: "2026-1").write(to: folder.appendingPathComponent(file), atomically: true, encoding: .utf8)
    for endpoint in description.endpoints { print([file, endpoint.key, endpoint.method, endpoint.route].joined(separator: "\t")) }
}
