import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct RecordingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)")

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func whatIsRecordedIsReplayed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stub = StubTransport()
        stub["user(id:)"] = .inTurn(.json(#"{"a": 1.10}"#, headers: ["X-A": "1"]), .data(Data([0xFF, 0x00]), status: 203))
        stub["other()"] = .status(204)
        let recorder = try RecordingTransport(around: stub, folder: folder)
        let calls = [
            try request(), try request(),
            try request(.post, "https://api.example/o?q=1", key: "other()", body: RequestBody(Data("x".utf8))),
        ]
        var live: [TransportResponse] = []
        for call in calls { live.append(try await recorder.send(call)) }
        #expect(try files() == ["0001-user.json", "0002-user.json", "0003-other.json"])

        let replay = try ReplayTransport(folder: folder)
        for (call, expected) in zip(calls, live) {
            let response = try await replay.send(call)
            #expect(response.status == expected.status)
            #expect(response.headers == expected.headers)
            #expect(response.body.data == expected.body.data)
        }
        #expect(try await replay.send(request(.get, "http://127.0.0.1:1/users/1")).status == 203)
        let failure = await #expect(throws: TestingFailure.self) { try await replay.send(request(.get, "https://api.example/users/2")) }
        #expect(failure?.description.contains("the nearest is “user(id:) GET /users/1”") == true)
    }

    @Test func secretsStayOutOfTheFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stub = StubTransport()
        stub["form()"] = .status(204, headers: ["Set-Cookie": "session=hush"])
        stub["json()"] = .json(#"{"access_token":"hush","list":[{"client_secret":"hush","code":"kept","n":null}]}"#)
        let recorder = try RecordingTransport(around: stub, folder: folder) {
            $0.url = $0.url.replacingOccurrences(of: "mine", with: "ours")
        }
        let login = RequestBody(Data("user=ada&password=hush".utf8), contentType: "application/x-www-form-urlencoded")
        let form = try request(
            .post, "https://ada:hush@api.example/mine?api_key=hush&x=1", key: "form()", headers: ["Authorization": "Basic hush"],
            body: login)
        _ = try await recorder.send(form)
        let response = try await recorder.send(request(key: "json()"))
        #expect(try await text(of: response).contains("hush"))

        for file in try files() {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            #expect(!text.contains("hush"))
        }
        let first = try String(contentsOf: folder.appendingPathComponent("0001-form.json"), encoding: .utf8)
        #expect(first.contains("user=ada&password=<masked>") && first.contains("/ours?api_key=<masked>&x=1"))
        let second = try String(contentsOf: folder.appendingPathComponent("0002-json.json"), encoding: .utf8)
        #expect(second.contains(#"\"code\":\"kept\""#))

        // The mask is the same on both sides, so a secret in the query doesn't prevent a match.
        let replay = try ReplayTransport(folder: folder)
        let again = try request(.post, "https://api.example/ours?api_key=other&x=1", key: "form()")
        #expect(try await replay.send(again).status == 204)
    }

    @Test func aFileThatIsNoExchangeIsNamed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("[]".utf8).write(to: folder.appendingPathComponent("bad.json"))
        let failure = #expect(throws: TestingFailure.self) { try ReplayTransport(folder: folder) }
        #expect(failure?.description.hasPrefix("bad.json isn't a recorded exchange") == true)
    }
}
