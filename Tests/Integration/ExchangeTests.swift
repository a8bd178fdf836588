import Foundation
import Testing
import WebServiceClient

private struct Order: Codable, Equatable, Sendable {
    var id: Int
    var name: String
    var price: Double?
    var tags: [String]
}

private let order = Order(id: 7, name: "Crème brûlée 🍮", price: 4.5, tags: ["a", "b c"])

extension IntegrationTests {
    @Suite struct RedirectTests {
        @Test(arguments: ["/redirect/4", "/relative-redirect/4", "/absolute-redirect/4"])
        func `redirects of every kind are followed`(route: String) async throws {
            let client = try TestServer.client()
            let response = try await client.http.get(route).response(Data.self)
            #expect(response.status == 200)
            #expect(response.url.path() == "/get")
        }

        @Test(arguments: [(307, "POST"), (308, "POST"), (301, "GET"), (302, "GET"), (303, "GET")])
        func `method and body after a POST`(status: Int, method: String) async throws {
            let echo: Echo = try await TestServer.client().http.post("/redirect-to")
                .query("status_code", status).query("url", "/anything").body(order).value()
            #expect(echo.method == method)
            #expect(echo.data.isEmpty == (method == "GET"))
            if method == "POST" { #expect(try JSONDecoder().decode(Order.self, from: Data(echo.data.utf8)) == order) }
        }

        @Test func `credentials stay on their origin`() async throws {
            // Apache passes a foreign Location on unchanged; nginx would rewrite it.
            let other = try TestServer.httpbin + "/anything"
            let client = WebServiceClient(serviceRoot: try TestServer.named("apache-basic").url) {
                $0.authenticationProvider = BasicAuthenticationProvider(user: "user", password: "passwd")
            }
            let here: Echo = try await client.http.get("/redirect-to").query("url", "/anything").value()
            #expect(here.headers["Authorization"] != nil)
            let there: Echo = try await client.http.get("/redirect-to").query("url", other).value()
            #expect(there.headers["Authorization"] == nil)
            let error = try await serviceError {
                try await client.http.get("/redirect-to").query("url", other).describing { $0.redirects(.sameOrigin) }.send()
            }
            #expect((error.cause as? RedirectError)?.reason == .otherOrigin)
        }

        @Test func `too many are an error, and none are followed if so wished`() async throws {
            let client = try TestServer.client()
            let error = try await serviceError { try await client.http.get("/redirect/12").send() }
            #expect(error.kind == .redirect)
            #expect((error.cause as? RedirectError)?.reason == .tooMany)
            let loop = try await serviceError {
                try await client.http.get("/redirect-to").query("url", "/redirect-to?url=/redirect-to%3Furl%3Dx").describing {
                    $0.redirects(.stop)
                }.send()
            }
            #expect(loop.status == 302)
            #expect(loop.message.contains("redirect was not followed"))
        }
    }

    @Suite struct StatusTests {
        @Test(arguments: [200, 201, 202, 203, 206, 226])
        func `a success`(status: Int) async throws {
            #expect(try await TestServer.client().http.get("/status/%%0%%", status).send().status == status)
        }

        @Test(arguments: [
            400, 401, 402, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 418, 422, 428, 429, 431, 451, 500, 501, 502, 503, 504,
        ])
        func `a failure names the call and the status`(status: Int) async throws {
            let error = try await serviceError { try await TestServer.client().http.get("/status/%%0%%", status).send() }
            #expect(error.status == status)
            #expect(error.kind == .status)
            #expect("\(error)".contains("GET /status/%%0%%"))
            let accepted = try await TestServer.client().http.get("/status/%%0%%", status).accepting([status]).send()
            #expect(accepted.status == status)
        }

        @Test(arguments: [204, 205, 304]) func `nothing is nil`(status: Int) async throws {
            let call = try TestServer.client().http.get("/status/%%0%%", status).header("If-None-Match", status == 304 ? "\"1\"" : nil)
            #expect(try await call.value(Order?.self) == nil)
        }

        @Test func `HEAD has a length and no body`() async throws {
            let response = try await TestServer.client().http.head("/range/1000").send()
            #expect(response.headers["Content-Length"] == "1000")
        }
    }

    @Suite struct TimingTests {
        @Test func `a slow answer ends with the call's time`() async throws {
            let begin = ContinuousClock.now
            let error = try await serviceError { try await TestServer.client().http.get("/delay/8").timeout(.milliseconds(300)).send() }
            #expect(error.kind == .timeout)
            #expect(ContinuousClock.now - begin < .seconds(4))
            #expect("\(error)".contains("GET /delay/8"))
        }

        @Test func `a dripping body ends with the call's time, too`() async throws {
            let error = try await serviceError {
                try await TestServer.client().http.get("/drip").query("duration", 8).query("numbytes", 8).timeout(.seconds(1)).send()
            }
            #expect(error.kind == .timeout)
        }

        @Test func `pieces arrive while the server still drips`() async throws {
            let begin = ContinuousClock.now
            let response = try await TestServer.client().http.get("/drip").query("duration", 2).query("numbytes", 4).query("delay", 0)
                .stream()
            var first: Duration?
            var body = Data()
            for try await piece in response.value {
                if first == nil { first = ContinuousClock.now - begin }
                body.append(piece)
            }
            #expect(body == Data("****".utf8))
            #expect(try #require(first) < ContinuousClock.now - begin - .milliseconds(500))
        }
    }

    @Suite struct BodyTests {
        @Test func `JSON there and back, read at its place`() async throws {
            let client = try TestServer.client()
            for call in [
                client.http.post("/anything"), client.http.put("/anything"), client.http.patch("/anything"),
                client.http.delete("/anything"),
            ] {
                #expect(try await call.body(order).decoding(at: "json").value(Order.self) == order)
            }
            #expect(try await client.http.post("/anything").body(order).decoding(at: "json.tags.1").value(String.self) == "b c")
            #expect(
                try await client.http.post("/anything").body(order).decoding(at: "headers.Content-Type").value(String.self)
                    == "application/json"
            )
        }

        @Test func `a struct and an array as a query`() async throws {
            struct Answer: Decodable {
                var tags: [String]
                var name: String
                var id: String
            }
            let answer: Answer = try await TestServer.client().http.get("/anything").query(order).decoding(at: "args").value()
            #expect(answer.tags == order.tags && answer.name == order.name && answer.id == "7")
        }

        @Test func `a form`() async throws {
            let echo: Echo = try await TestServer.client().http.post("/anything").body(["a b": "c&d=ü+", "e": ""])
                .describing { $0.serializer(FormSerializer()) }.value()
            #expect(echo.form == ["a b": "c&d=ü+", "e": ""])
        }

        @Test func `a multipart form, read by someone else's parser`() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "integration-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "notes.txt")
            let text = String(repeating: "line – \r\n--boundary\r\n", count: 5_000)
            try Data(text.utf8).write(to: file)
            let form = MultipartForm([
                .text("title", "Grüße \"quoted\"\r\nnext"), .text("empty", ""), .file("file", file),
                .data("data", Data("two".utf8), fileName: "ünï \"x\".txt", contentType: "text/plain"),
            ])
            let echo: Echo = try await TestServer.client().http.post("/anything").body(form).value()
            #expect(echo.form == ["title": "Grüße \"quoted\"\r\nnext", "empty": ""])
            #expect(isExactly(echo.files["file"], text))
            #expect(echo.files["data"] == "two")
            #expect(echo.headers["Content-Length"] != nil)
        }

        @Test func `compressed answers`() async throws {
            struct Gzipped: Decodable { var gzipped: Bool }
            #expect(try await TestServer.client().http.get("/gzip").value(Gzipped.self).gzipped)
            struct Product: Decodable { var ID: Int }
            let client = WebServiceClient(serviceRoot: try TestServer.named("nginx-gzip").url)
            #expect(try await client.http.get("/products.json").value([Product].self).map(\.ID) == Array(1...1000))
            #expect(try await client.http.get("/hello.txt").value(String.self) == "hello\n")
        }

        @Test func `bytes in full, whole and in pieces`() async throws {
            let client = try TestServer.client()
            let expected = Data((0..<100_000).map { UInt8(97 + $0 % 26) })
            #expect(try await client.http.get("/range/100000").value(Data.self) == expected)
            let random: Data = try await client.http.get("/bytes/50000").query("seed", 3).value()
            var streamed = Data()
            for try await piece in try await client.http.get("/stream-bytes/50000").query("seed", 3).query("chunk_size", 999).stream().value
            {
                streamed.append(piece)
            }
            #expect(random.count == 50_000 && random == streamed)
        }
    }
}
