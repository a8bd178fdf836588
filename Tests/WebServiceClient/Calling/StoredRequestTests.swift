import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct StoredRequestTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// Makes a request of random parts.
    private static func random(_ generator: inout SeededGenerator, files: [URL]) throws -> ServiceRequest {
        func pick<Value>(_ values: [Value]) throws -> Value { try #require(values.randomElement(using: &generator)) }
        func text(_ limit: Int) throws -> String {
            let pool = Array("aZ0 é漢🙂\"\\/,;<>&%+\u{301}\t")
            return try String((0..<Int.random(in: 0...limit, using: &generator)).map { _ in try pick(pool) })
        }
        func duration() throws -> Duration? {
            try pick([nil, .zero, .seconds(60), .milliseconds(-1), Duration(secondsComponent: 3, attosecondsComponent: 1)])
        }
        var request = ServiceRequest(
            method: try pick([.get, .post, .put, "REPORT", "M-SEARCH"]),
            url: try Self.url(
                try pick([
                    "https://api.test/v1/a", "http://[::1]:8080/%20x?q=1&token=s3cr3t", "https://api.test", "https://a.test/?é=%C3%A9#f",
                ])),
            timeouts: ServiceTimeouts(firstByte: try duration(), idle: try duration(), total: try duration(), connect: try duration()))
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            request.headers.append(
                try pick(["Accept", "X-A", "x-a", "Authorization"]), try text(8).replacing("\t", with: ""))
        }
        if Bool.random(using: &generator) { request.headers.set("X-Bytes", bytes: [0xFF, 0x41]) }
        func data() throws -> Data {
            Bool.random(using: &generator)
                ? Data(try text(20).utf8)
                : Data((0..<Int.random(in: 0...20, using: &generator)).map { _ in .random(in: 0...255, using: &generator) })
        }
        switch Int.random(in: 0...3, using: &generator) {
        case 0: request.body = RequestBody(try data(), contentType: try pick([nil, "text/plain"]))
        case 1:
            request.body = RequestBody(
                segments: [.data(try data()), .file(try pick(files), length: 5), .data(try data())], contentType: "multipart/mixed")
            request.body?.contentTypeIsBinding = true
        case 2: request.body = try RequestBody(file: try pick(files))
        default: break
        }
        if Bool.random(using: &generator) { request.identity = CallIdentity(client: "C", key: try text(5), route: "/x") }
        if Bool.random(using: &generator) {
            request.secrets = RequestSecrets(
                rules: HeaderRules(harmless: ["X-A"], secret: ["Accept"]), texts: ["s3cr3t value", try text(5)])
        }
        return request
    }

    @Test func `generated requests are equal after the trip`() throws {
        let folder = TemporaryFolder()
        let files = ["a", "b c é"].map { folder.url.appending(path: $0) }
        for file in files { try Data("12345".utf8).write(to: file) }
        var generator = SeededGenerator(seed: 31)
        for number in 0..<400 {
            let request = try Self.random(&generator, files: files)
            let stored = try request.stored(includingSecrets: true)
            #expect(stored.omitted.isEmpty)
            let data = try stored.data()
            let read = try StoredRequest(data: data)
            #expect(read == stored, "\(number)")
            let copy = try ServiceRequest(read)
            #expect(copy.method == request.method && copy.url.absoluteString == request.url.absoluteString)
            #expect(copy.headers == request.headers && copy.timeouts == request.timeouts && copy.identity == request.identity)
            #expect(copy.secrets == request.secrets && copy.body?.contentType == request.body?.contentType)
            #expect(copy.body?.length == request.body?.length && copy.body?.data == request.body?.data)
            #expect(try copy.stored(includingSecrets: true).data() == data)
            // Also within other JSON, by any decoder.
            #expect(try JSONDecoder().decode([StoredRequest].self, from: JSONEncoder().encode([stored])) == [stored])
        }
    }

    @Test func `secrets are left out and listed, and nothing masked is sent as if real`() throws {
        var request = ServiceRequest(
            method: .post, url: try Self.url("https://api.test/a?token=s3cr3t-1"),
            headers: ["Accept": "text/csv", "Authorization": "Bearer s3cr3t-2", "X-Team": "s3cr3t-3"],
            body: RequestBody(Data(#"{"password":"s3cr3t-4"}"#.utf8), contentType: "application/json"))
        request.secrets = RequestSecrets(rules: .standard, texts: ["s3cr3t-5"])
        request.uploadProgress = { _ in }
        var stored = try StoredRequest(data: try request.stored().data())
        let text = String(decoding: try stored.data(), as: UTF8.self)
        #expect(!text.contains("s3cr3t") && !text.contains("mask"))
        #expect(
            stored.omitted == [
                StoredOmission(.url), StoredOmission(.header, "Authorization"), StoredOmission(.header, "X-Team"), StoredOmission(.body),
                StoredOmission(.setting, "uploadProgress"),
            ])
        let error = #expect(throws: StoredDataError.self) { try ServiceRequest(stored) }
        #expect(error?.missing == stored.omitted && error?.message.contains("X-Team") == true)
        // Required members aren't ignored.
        for omission in stored.omitted { stored.ignore(omission) }
        #expect(stored.omitted == [StoredOmission(.url), StoredOmission(.body)])
        stored.supply(url: try Self.url("https://api.test/a?token=new"))
        stored.supply("Bearer new", forHeader: "authorization")
        try stored.supply(body: RequestBody(Data("{}".utf8)))
        let copy = try ServiceRequest(stored)
        #expect(copy.headers["Authorization"] == "Bearer new" && !copy.headers.contains("X-Team"))
        #expect(copy.url.query() == "token=new" && copy.body?.data == Data("{}".utf8))
    }

    @Test func `descriptions show no secrets`() throws {
        var request = ServiceRequest(url: try Self.url("https://api.test/s3cr3t-1/a?token=s3cr3t-2"), headers: ["X-Key": "s3cr3t-3"])
        request.secrets = RequestSecrets(rules: .standard, texts: ["s3cr3t-1"])
        let stored = try request.stored(includingSecrets: true)
        var dumped = ""
        dump(stored, to: &dumped)
        for text in ["\(stored)", String(reflecting: stored), dumped] { #expect(!text.contains("s3cr3t"), "\(text)") }
    }

    @Test func `a stream and invalid parts can't be stored`() throws {
        var request = ServiceRequest(method: .post, url: try Self.url("https://api.test/a"))
        request.body = RequestBody { AsyncThrowingStream { $0.finish() } }
        let error = #expect(throws: StoredDataError.self) { try request.stored() }
        #expect(error?.message.contains("stream") == true && error?.message.contains("collect") == true)
        request.body = nil
        request.headers["X"] = "a\r\nb"
        #expect(throws: StoredDataError.self) { try request.stored(includingSecrets: true) }
        #expect(throws: StoredDataError.self) { try ServiceRequest(method: "A B", url: request.url).stored() }
        #expect(throws: StoredDataError.self) { try ServiceRequest(url: try Self.url("ftp://a.test/")).stored() }
        let long = ServiceRequest(url: request.url, timeouts: ServiceTimeouts(total: .seconds(Int64.max) + .seconds(Int64.max)))
        #expect(throws: StoredDataError.self) { try long.stored().data() }
    }

    @Test func `a file that is missing or has changed is an error`() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "film")
        try Data("12345".utf8).write(to: file)
        let request = ServiceRequest(method: .put, url: try Self.url("https://api.test/a"), body: try RequestBody(file: file))
        let stored = try StoredRequest(data: try request.stored().data())
        #expect(try ServiceRequest(stored).body?.file == file)
        try Data("123456".utf8).write(to: file)
        let changed = #expect(throws: StoredDataError.self) { try ServiceRequest(stored) }
        #expect(changed?.message.contains("film") == true && changed?.message.contains("6 bytes") == true)
        try FileManager.default.removeItem(at: file)
        #expect(throws: StoredDataError.self) { try ServiceRequest(stored) }
    }

    @Test(arguments: [
        ("", "read"), ("{", "read"), ("[]", "read"), ("{}", "version"), (#"{"version":2}"#, "version 2"), (#"{"version":"1"}"#, "version"),
        (#"{"version":1,"timeouts":{},"url":"https://a.test"}"#, "method"),
        (#"{"version":1,"method":"A B","timeouts":{},"url":"https://a.test"}"#, "method"),
        (#"{"version":1,"method":"GET","timeouts":{}}"#, "url"), (#"{"version":1,"method":"GET","url":"/a","timeouts":{}}"#, "url"),
        (#"{"version":1,"method":"GET","url":"file:///etc/passwd","timeouts":{}}"#, "url"),
        (#"{"version":1,"method":"GET","url":"https://a.test","timeouts":{},"bodi":1}"#, "bodi"),
        (#"{"version":1,"method":"GET","url":"https://a.test","timeouts":{"total":"1e3"}}"#, "timeouts.total"),
        (#"{"version":1,"method":"GET","url":"https://a.test","timeouts":{"total":5}}"#, "timeouts.total"),
        (#"{"version":1,"method":"GET","url":"https://a.test","timeouts":{"total":"99999999999999999999"}}"#, "timeouts.total"),
        (#"{"version":1,"method":"GET","url":"https://a.test","headers":[{"name":"A","text":"x\ny"}]}"#, "headers[0].name"),
        (#"{"version":1,"method":"GET","url":"https://a.test","headers":[{"name":"A","text":"x","base64":"eA=="}]}"#, "headers[0].text"),
        (#"{"version":1,"method":"GET","url":"https://a.test","headers":{"A":"x"}}"#, "headers"),
        (#"{"version":1,"method":"GET","url":"https://a.test","body":{"parts":[{"base64":"!"}]}}"#, "body.parts[0].base64"),
        (#"{"version":1,"method":"GET","url":"https://a.test","body":{"parts":[{"file":"a","length":1}]}}"#, "body.parts[0].file"),
        (#"{"version":1,"method":"GET","url":"https://a.test","body":{"parts":[{"file":"/a"}]}}"#, "length"),
        (#"{"version":1,"method":"GET","url":"https://a.test","omitted":[{"part":"soul"}]}"#, "omitted[0].part"),
    ])
    func `bad data is an error that names the member`(text: String, member: String) {
        let error = #expect(throws: StoredDataError.self) { try StoredRequest(data: Data(text.utf8)) }
        #expect(error?.message.contains(member) == true, "\(error?.message ?? "")")
    }

    @Test func `data that is cut anywhere is an error`() throws {
        let request = ServiceRequest(
            method: .post, url: try Self.url("https://api.test/a"), headers: ["Accept": "a/b"], body: RequestBody(Data("x".utf8)))
        let data = try request.stored().data()
        for end in data.indices { #expect(throws: StoredDataError.self) { try StoredRequest(data: data[..<end]) } }
    }

    @Test(arguments: [
        ("0", Duration.zero), ("1.5", .milliseconds(1_500)),
        ("-0.000000000000000001", Duration(secondsComponent: 0, attosecondsComponent: -1)),
        ("9223372036854775807", .seconds(Int64.max)), ("-9223372036854775807", .seconds(-Int64.max)),
    ])
    func `durations are exact`(text: String, duration: Duration) throws {
        #expect(StoredDuration.duration(of: text) == duration)
        #expect(try StoredDuration.duration(of: StoredDuration.text(of: duration)) == duration)
    }

    @Test(arguments: ["", "-", ".", "1.", ".5", "+1", "1e3", "1,5", " 1", "0.1234567890123456789", "--1", "1.-5", "９"])
    func `other texts aren't durations`(text: String) {
        #expect(StoredDuration.duration(of: text) == nil)
    }
}
