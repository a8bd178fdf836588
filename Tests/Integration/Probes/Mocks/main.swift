import Foundation
import WebServiceClient
import WebServiceTesting

// Plays a service by a mock server for Tests/Integration/mock-server: writes the OpenAPI document of its table into a file, prints the
// server's root, and answers until standard input ends. Then it prints the number of requests of each endpoint, and the requests without a
// route.

struct Book: Codable, Sendable {
    let id: Int
    let title: String
}

final class Library: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "book(id:)": .get("/books/%%0%%"), "newest()": .get("/books/newest"),
            "chapter(id:number:)": .get("/books/%%id%%/chapters/%%number%%.txt").raw(),
            "add(book:)": .post("/books").body(.argument(0)).accepting(.created),
            "search(text:page:)": .get(uriTemplate: "/search{?text,page}").decoding(at: "result.items"),
            "shelf(path:)": .get(uriTemplate: "/shelves{/path*}"), "matrix(a:b:)": .get(uriTemplate: "/m{;a,b*}"),
            "label(a:)": .get(uriTemplate: "/l{.a}"), "loans()": .get("/loans").query(["state": "open"]),
            "remove(id:)": .delete("/books/%%0%%").accepting(.noContent), "head(id:)": .head("/books/%%id%%"),
            "form(x:)": .put("/form").serializer(FormSerializer()).body(.argument(0)),
            "tags(tags:)": .get("/tags").query("tags", .argument(0)).arrays(.comma),
            "styles(a:b:c:)": .get("/styles").query("a", .argument(0), arrays: .pipe, objects: .joined).query("b", .argument(1), as: .json)
                .header("X-C", .argument(2)),
        ]
    }
    override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://library.example/v2/") }
}

let server = try MockServer(Library.self)
for key in Library.endpoints.keys {
    switch key {
    case "add(book:)": try server.answering(key, with: .json(#"{"id": 1}"#, status: 201))
    case "remove(id:)": try server.answering(key, with: .status(204))
    case "chapter(id:number:)": try server.answering(key, with: MockAnswer { .text($0.path) })
    case "head(id:)": try server.answering(key, with: .status(200))
    case "search(text:page:)": try server.answering(key, with: .samples(of: [Book].self, count: 3))
    default: try server.answering(key, with: .sample(of: Book.self))
    }
}
let document = Library.describe(as: .openAPI).replacingOccurrences(of: "https://library.example/v2", with: server.serviceRoot)
try document.write(toFile: CommandLine.arguments.dropFirst().first ?? "library.json", atomically: true, encoding: .utf8)
try FileHandle.standardOutput.write(contentsOf: Data((server.serviceRoot + "\n").utf8))
while let line = readLine(), !line.isEmpty {}
for key in Library.endpoints.keys { print("\(server.requestCount(for: key))\t\(key)") }
for miss in server.misses { print("-\t\(miss)") }
