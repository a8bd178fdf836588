import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

/// One endpoint for each place of a value. The second argument must not be mistaken for a placeholder.
private final class EchoService: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "segment(value:decoy:)": .get("/anything/%%value%%/end").query(["decoy": "%%1%%"]).raw(),
            "password(value:authorization:)": .get("/basic-auth/user/%%value%%").header(.authorization, "%%authorization%%").raw(),
            "query(value:decoy:)": .get("/anything").query(["v": "%%0%%", "decoy": "%%1%%"]).decoding(at: "args"),
            "header(value:decoy:)": .get("/headers").headers(["X-Value": "%%0%%", "X-Decoy": "%%decoy%%"]).decoding(at: "headers"),
            "form(body:)": .post("/anything").serializer(FormSerializer()).decoding(at: "form"),
            "json(body:)": .post("/anything").decoding(at: "json"),
        ]
    }
}

private let decoy = "decoy"

extension IntegrationTests {
    /// Hostile values are echoed exactly by the server, or the call is refused with an error that names the argument.
    @Suite struct InjectionTests {
        static let values = HostileText.values()

        /// The results for the values of a test.
        struct Tally {
            var same = 0
            var refused: [String] = []
            var tooLong: [String] = []
        }

        /// Calls with each value. An error must be a refusal that names the argument, or the server's own for a value that is too long.
        static func tally(_ values: [String] = values, key: String, _ call: @Sendable (_ value: String) async throws -> Bool) async
            -> Tally
        {
            var tally = Tally()
            for value in values {
                do {
                    if try await call(value) {
                        tally.same += 1
                    } else {
                        Issue.record("\(key) didn't give back \(value.prefix(80).debugDescription)")
                    }
                } catch let error as ServiceError where error.kind == .argument {
                    tally.refused.append(value)
                    #expect(error.message.contains("argument \"value\""))
                    #expect("\(error)".contains(key))
                } catch let error as ServiceError where HostileText.long.contains(value) {
                    tally.tooLong.append(value)
                    #expect("\(error)".contains(key))
                    #expect([400, 413, 414, 431].contains(error.status ?? 0), "\(error)")
                } catch {
                    Issue.record("\(key) with \(value.prefix(80).debugDescription): \(error)")
                }
            }
            #expect(tally.same > values.count / 2)
            return tally
        }

        private func service() throws -> EchoService { EchoService(serviceRoot: try TestServer.httpbin) }

        @Test func `as a path segment, to the byte on the wire`() async throws {
            let server = try LoopbackServer { $0.fallback { _ in .text("") } }
            let client = EchoService(serviceRoot: server.url.absoluteString)
            let tally = await Self.tally(key: "segment(value:decoy:)") { value in
                server.forgetRequests()
                let _: String = try await client.dynamic.segment(value: value, decoy: decoy)
                guard let request = server.requests.first, server.requests.count == 1 else { return false }
                let segments = request.pathSegments
                return segments.count == 3 && segments[0] == "anything" && isExactly(segments[1], value) && segments[2] == "end"
                    && request.query == "decoy=" + decoy
            }
            #expect(Set(tally.refused) == ["", ".", ".."])
        }

        @Test func `as a path segment, by a server that compares it with what it knows`() async throws {
            let client = try service()
            // httpbin requires the password in its path, so 200 means that it has read exactly this one. It can't distinguish a slash,
            // since its gateway decodes the path before splitting it.
            let values = Self.values.filter { !$0.utf8.contains(UInt8(ascii: "/")) }
            let tally = await Self.tally(values, key: "password(value:authorization:)") { value in
                let credentials = "Basic " + Data("user:\(value)".utf8).base64EncodedString()
                let answer: String = try await client.dynamic.password(value: value, authorization: credentials)
                return answer.contains("\"authenticated\": true")
            }
            #expect(Set(tally.refused) == ["", ".", ".."])
        }

        @Test func `as a query value`() async throws {
            let client = try service()
            let tally = await Self.tally(key: "query(value:decoy:)") { value in
                let args: [String: String] = try await client.dynamic.query(value: value, decoy: decoy)
                return isExactly(args["v"], value) && args.count == 2 && args["decoy"] == decoy
            }
            #expect(tally.refused == [])
        }

        @Test func `as a header`() async throws {
            let client = try service()
            let plain: [String: String] = try await client.dynamic.header(value: "plain", decoy: decoy)
            let tally = await Self.tally(key: "header(value:decoy:)") { value in
                let headers: [String: String] = try await client.dynamic.header(value: value, decoy: decoy)
                // The gateway passes bytes as Latin-1.
                let bytes = headers["X-Value", default: ""].unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
                return bytes.elementsEqual(value.utf8) && headers["X-Decoy"] == decoy
                    && Set(headers.keys).union(["X-Value"]) == Set(plain.keys)
            }
            // Leading and trailing spaces aren't part of a field's value (RFC 9110 §5.5).
            func isBlank(_ byte: UInt8?) -> Bool { byte == 32 || byte == 9 }
            let unfit = Self.values.filter { value in
                value.utf8.contains { ($0 < 32 && $0 != 9) || $0 == 127 } || isBlank(value.utf8.first) || isBlank(value.utf8.last)
            }
            #expect(Set(tally.refused) == Set(unfit))
        }

        @Test func `as a field of a form`() async throws {
            let client = try service()
            let tally = await Self.tally(key: "form(body:)") { value in
                let form: [String: String] = try await client.dynamic.form(body: ["v": value, "decoy": decoy])
                return isExactly(form["v"], value) && form.count == 2 && form["decoy"] == decoy
            }
            #expect(tally.same == Self.values.count)
        }

        @Test func `as a name in a query, a form and JSON`() async throws {
            let client = try service()
            let form = await Self.tally(key: "form(body:)") { value in
                let form: [String: String] = try await client.dynamic.form(body: [value + "!": "x"])
                return form.count == 1 && isExactly(form.keys.first, value + "!")
            }
            let json = await Self.tally(key: "json(body:)") { value in
                let json: [String: String] = try await client.dynamic.json(body: [value: "x"])
                return json.count == 1 && isExactly(json.keys.first, value)
            }
            #expect(form.same == Self.values.count && json.same == Self.values.count)
        }

        @Test func `in JSON`() async throws {
            let client = try service()
            let tally = await Self.tally(key: "json(body:)") { value in
                let json: [String: String] = try await client.dynamic.json(body: ["v": value, "decoy": decoy])
                return isExactly(json["v"], value) && json.count == 2 && json["decoy"] == decoy
            }
            #expect(tally.same == Self.values.count)
        }

        @Test func `a megabyte echoes`() async throws {
            let client = try service()
            let text = String(repeating: "%%0%%/ü\r\n\0\"\\🎉", count: 65_000)
            #expect(text.utf8.count > 1 << 20)
            let json: [String: String] = try await client.dynamic.json(body: ["v": text])
            #expect(isExactly(json["v"], text))
        }

        @Test func `as an OData literal, by a server that reads the query`() async throws {
            let client = try service()
            let tally = await Self.tally(key: "anything") { value in
                let literal = "'" + value.unicodeScalars.reduce(into: "") { $0 += $1 == "'" ? "''" : String($1) } + "'"
                let filtered = FetchRequest<Item>(from: "anything").selectAll().filter { $0.name == value && $0.rank < 9 }
                let link = try #require(URL(string: try TestServer.httpbin + "/" + filtered.relativeURL()))
                let echo = try await client.http.request(link: link).value(Echo.self)
                return echo.args.count == 1 && isExactly(echo.args["$filter"], "Name eq \(literal) and Rank lt 9")
            }
            #expect(tally.refused == [])
        }

        @Test func `as an OData literal, to the byte on the wire`() async throws {
            let server = try LoopbackServer { $0.fallback { _ in .json("{\"value\": []}") } }
            let client = WebServiceClient(serviceRoot: server.url.absoluteString)
            for value in Self.values {
                let literal = "'" + value.unicodeScalars.reduce(into: "") { $0 += $1 == "'" ? "''" : String($1) } + "'"
                server.forgetRequests()
                let filtered = FetchRequest<Item>(from: "Items").selectAll().filter { $0.name == value && $0.rank < 9 }
                try await client.http.request(link: server.url("/" + filtered.relativeURL())).send()
                let request = try #require(server.requests.first)
                #expect(isExactly(request.queryValue("$filter"), "Name eq \(literal) and Rank lt 9"))
                #expect(request.queryItems.count == 1 && request.path == "/Items")

                server.forgetRequests()
                let keyed = FetchRequest<Item>(from: "Items").selectAll().key(value)
                try await client.http.request(link: server.url("/" + keyed.relativeURL())).send()
                let segments = try #require(server.requests.first).pathSegments
                #expect(segments.count == 1 && isExactly(segments.first, "Items(\(literal))"))
            }
        }
    }
}

private struct Item: Decodable, Sendable {
    var name: String
    var rank: Int

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case rank = "Rank"
    }
}
