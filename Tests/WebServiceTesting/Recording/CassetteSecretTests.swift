import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

/// Secrets of all kinds in requests and responses. None may be in the file, and what is masked must still match and decode.
@Suite struct CassetteSecretTests {
    private static func bodies(_ sample: SampleSecrets.Sample) -> [(type: String, text: String)] {
        let escaped = sample.secret.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let value = URLEncoding.queryValue(sample.secret)
        var bodies = [
            (type: "application/json", text: "{\"user\":\"ada\",\"password\":\"\(escaped)\",\"n\":[1.10,null]}"),
            (type: "application/json", text: "{\"o\":{\"credentials\":{\"a\":[{\"b\":\"\(escaped)\"}]}},\"tokens\":[\"\(escaped)\"]}"),
            (type: "application/vnd.x+json", text: "[{\"name\":\"X-Api-Key\",\"value\":\"\(escaped)\"}]"),
            (type: "application/json", text: "{\"password\":\"\(escaped)\""),
            (type: "application/x-www-form-urlencoded", text: "user=ada&client%5Fsecret=\(value)&password=\(value)"),
            (type: "application/xml", text: "<login><user>ada</user><password>\(sample.secret)</password></login>"),
            (
                type: "multipart/form-data; boundary=b",
                text: "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(sample.secret)\r\n--b--\r\n"
            ),
        ]
        for text in sample.texts { bodies.append((type: "text/plain", text: text.replacing("%@", with: sample.secret))) }
        return bodies
    }

    @Test func `the corpus of secrets is nowhere in the file`() async throws {
        var secrets = SampleSecrets(seed: 36)
        let samples = secrets.samples(rounds: 1)
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "secrets.har")
        let stub = StubTransport()
        let cassette = try Cassette(file)
        let transport = cassette.transport(around: stub)
        var calls: [ServiceRequest] = []
        for (number, sample) in samples.enumerated() {
            let value = URLEncoding.pathSegment(sample.secret)
            for (index, body) in Self.bodies(sample).enumerated().filter({ ($0.offset + number) % 5 == 0 }).map({ ($0.offset, $0.element) })
            {
                let (type, text) = body
                stub["user(id:)"] = .data(
                    Data(text.utf8), type: type,
                    headers: [
                        "Set-Cookie": "sid=\(sample.secret)", "X-Tableau-Auth": sample.secret, "Location": "/cb?code=\(value)",
                        "X-Whatever": sample.secret, "ETag": "\"1\"",
                    ])
                var call = try request(
                    .post, "https://ada:\(value)@api.example/\(number)/\(index)?access_token=\(value)&x=1#id_token=\(value)",
                    headers: [
                        "Authorization": "Bearer \(sample.secret)", "X-Honeycomb-Team": sample.secret, "Cookie": "a=\(sample.secret)",
                    ],
                    body: RequestBody(Data(text.utf8), contentType: type))
                call.identity = CallIdentity(client: "Shop", key: "user(id:)", route: "/")
                _ = try await transport.send(call)
                calls.append(call)
            }
            stub["user(id:)"] = .failure(TransportError(.other, "refused: password=\(sample.secret)"))
            _ = try? await transport.send(request(.get, "https://api.example/error/\(number)"))
        }
        try cassette.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        let visible = SecretLeaks.runs(of: SecretLeaks.visible(Data(text.utf8)))
        let leaks = samples.compactMap { sample in SecretLeaks.leak(of: sample.hiddenPart, in: visible).map { "\(sample.kind): \($0)" } }
        #expect(leaks.isEmpty, "\(leaks.prefix(5))")
        #expect(calls.count > 80 && text.contains("ada"))

        // The mask is the same on both sides, so secrets don't prevent a match.
        let replay = try Cassette(file, mode: .none)
        for call in calls { #expect(try await replay.transport().send(call).headers["ETag"] == "\"1\"") }
    }

    @Test func `masked JSON keeps the types of its values`() async throws {
        struct Account: Decodable, Equatable {
            let user: String
            let password: String
            let maxTokens: Int
            let tokens: [String]
            let isPasswordSet: Bool
            let ratio: Double
        }
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "types.har")
        let stub = StubTransport()
        stub["user(id:)"] = .json(
            #"{"user":"ada","password":"hush","maxTokens":100,"tokens":["hush"],"isPasswordSet":true,"ratio":1.10,"none":null}"#)
        _ = try await Cassette(file).transport(around: stub).send(request())
        let body = try #require(try Cassette.exchanges(of: file)[0].responseBody)
        let account = try JSONDecoder().decode(Account.self, from: body)
        #expect(
            account
                == Account(user: "ada", password: "<masked>", maxTokens: 0, tokens: ["<masked>"], isPasswordSet: true, ratio: 1.1))
        #expect(String(decoding: body, as: UTF8.self).contains("\"ratio\":1.10"))
    }

    @Test func `the program can show more fields, mask more fields, and redact`() async throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "rules.har")
        let stub = StubTransport()
        stub["user(id:)"] = .json("{}", headers: ["X-Next": "2", "X-Other": "3", "ETag": "\"4\""])
        let call = try request(.get, "https://api.example/mine?x=1", headers: ["X-Team": "core"])
        let rules = HeaderRules(harmless: ["X-Next", "X-Team"], secret: ["ETag"])
        let change: @Sendable (inout RecordedExchange) -> Void = { $0.url = $0.url.replacingOccurrences(of: "mine", with: "ours") }
        _ = try await Cassette(file, headerRules: rules, redact: change).transport(around: stub).send(call)
        let exchange = try Cassette.exchanges(of: file)[0]
        #expect(exchange.url == "https://api.example/ours?x=1")
        #expect(exchange.requestFields.map { "\($0.name): \($0.value)" } == ["X-Team: core"])
        #expect(exchange.responseFields.contains(.init(name: "X-Next", value: "2")))
        #expect(exchange.responseFields.contains(.init(name: "X-Other", value: "<masked>")))
        #expect(exchange.responseFields.contains(.init(name: "ETag", value: "<masked>")))
        // The request is redacted before it is compared.
        #expect(try await Cassette(file, mode: .none, redact: change).transport().send(call).status == 200)
    }
}
