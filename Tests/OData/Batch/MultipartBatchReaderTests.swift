import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import OData

@Suite struct MultipartBatchReaderTests {
    /// Bodies in the folder that `SHARED_DIRECTORY` names.
    private static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/batch/" }

    private static var names: [String] {
        let all = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
        return all.filter { $0.hasSuffix(".txt") }.sorted()
    }

    private static func body(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: (folder ?? "") + name)) }

    /// The boundary is in a field of the exchange, which the files don't have.
    private static func boundary(_ body: Data) -> String {
        let line = body.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first ?? Data()
        return String(decoding: line.drop { $0 != UInt8(ascii: "-") }.dropFirst(2), as: UTF8.self)
    }

    /// The messages and faults that a reader finds, one per line, with change sets in brackets.
    private static func read(_ body: Data, _ boundary: String, cuts: [Int] = []) -> [String] {
        func text(_ message: Result<BatchMessage, ODataBatchError>) -> String {
            switch message {
            case .success(let message): "\(message.id ?? "-") \(message.startLine) \(message.headers.count) \(Array(message.body))"
            case .failure(let error): "fault: \(error)"
            }
        }
        var reader = MultipartBatchReader(boundary: boundary, limit: 1 << 20)
        var found: [String] = []
        func drain() {
            do {
                while let part = try reader.nextPart() {
                    switch part {
                    case .message(let message): found.append(text(message))
                    case .changeSet(let messages, let fault):
                        found += ["["] + messages.map(text) + (fault == nil ? ["]"] : ["] broken"])
                    }
                }
            } catch {
                found.append("end: broken")
            }
        }
        var start = 0
        for cut in cuts + [body.count] {
            reader.feed(body.subdata(in: body.startIndex + start..<body.startIndex + cut))
            drain()
            start = cut
        }
        reader.finish()
        if found.last != "end: broken" { drain() }
        return found
    }

    @Test(.enabled("SHARED_DIRECTORY names no folder with batches") { folder != nil }, arguments: names)
    func `the bodies of other libraries are read`(name: String) throws {
        let body = try Self.body(name)
        let found = Self.read(body, Self.boundary(body))
        let starts = found.filter { $0 != "[" && $0 != "]" }.map { line in
            line.hasPrefix("fault") ? "fault" : line.split(separator: " ").prefix(3).joined(separator: " ")
        }
        let expected: [String: [String]] = [
            "broken-content-length-too-large.txt": ["fault", "- GET Customers", "fault", "- GET Orders(1)"],
            "broken-content-length-too-small.txt": ["fault", "- GET Customers", "fault", "- GET Orders(1)"],
            "broken-data-after-end.txt": ["1 POST Customers", "2 POST Orders"],
            "broken-get-in-change-set.txt": ["fault", "2 GET Orders"],
            "broken-unclosed-change-set.txt": ["] broken", "1 cOntEnt-typE: ApplIcAtIon/http"],
            "request-change-outside-change-set.txt": [
                "- GET Customers(102)", "- POST Customers", "- GET Customers(102)", "8 POST Customers", "- GET Customers(103)",
            ],
            "request-content-id-references.txt": [
                "1 POST Customers", "3 POST $1/Orders", "5 POST Customers", "6 POST Customers", "7 POST Orders", "8 PUT $5/BestFriend/$ref",
                "9 POST $5/Orders/$ref",
            ],
            "request-mixed-case-headers.txt": ["1 POST Customers", "2 POST Orders"],
            "response-blank-lines-in-body.txt": ["- HTTP/1.1 500"],
            "response-change-set-error-single-part.txt": ["2 HTTP/1.1 400", "- HTTP/1.1 200"],
            "response-change-set-error-v2-style.txt": ["2 HTTP/1.1 400", "- HTTP/1.1 200"],
            "response-mixed-with-errors.txt": [
                "1 HTTP/1.1 201", "- HTTP/1.1 200", "3 HTTP/1.1 400", "- HTTP/1.1 200", "5 HTTP/1.1 204", "- HTTP/1.1 200",
            ],
            "response-no-reason-phrase.txt": ["1 HTTP/1.1 204", "2 HTTP/1.1 201", "2 HTTP/1.1 200"],
            "response-two-change-sets.txt": [
                "1 HTTP/1.1 201", "3 HTTP/1.1 201", "5 HTTP/1.1 201", "6 HTTP/1.1 201", "7 HTTP/1.1 201", "8 HTTP/1.1 204",
                "9 HTTP/1.1 204",
            ],
            "response-v2-lf-only.txt": ["1 HTTP/1.1 204", "2 HTTP/1.1 201", "2 HTTP/1.1 200"],
        ]
        #expect(starts == expected[name])
    }

    @Test(.enabled("SHARED_DIRECTORY names no folder with batches") { folder != nil }, arguments: names)
    func `the bodies of other libraries are read in any pieces`(name: String) throws {
        let body = try Self.body(name)
        let boundary = Self.boundary(body)
        let whole = Self.read(body, boundary)
        for cut in stride(from: 0, through: body.count, by: Sweep.isFull ? 1 : 61) {
            #expect(Self.read(body, boundary, cuts: [cut]) == whole, "cut at \(cut)")
        }
        #expect(Self.read(body, boundary, cuts: Array(1..<body.count)) == whole)
    }

    @Test func `deviations of services around the messages are accepted`() {
        let text =
            "ignored\n--b  \nContent-Type: application/http\n\n\nHTTP/1.1 204\n\n\n--b\r\n\r\nHTTP/1.1 200 OK\r\nContent-ID: 7\r\n"
            + "Content-Length: 2\r\n\r\nhi\r\n\r\n--b--"
        #expect(Self.read(Data(text.utf8), "b") == ["- HTTP/1.1 204 0 []", "7 HTTP/1.1 200 OK 2 [104, 105]"])
    }

    @Test func `a length in characters is accepted, but a wrong one isn't`() throws {
        func body(_ text: String, length: Int) throws -> Data {
            try BatchMessage(Data("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(text)\r\n".utf8), id: nil).body
        }
        for length in ["{é😀}".utf16.count, "{é😀}".unicodeScalars.count, "{é😀}".utf8.count] {
            #expect(try body("{é😀}", length: length) == Data("{é😀}".utf8), "\(length)")
        }
        #expect(throws: ODataBatchError.self) { try body("{é😀}", length: 3) }
        #expect(throws: ODataBatchError.self) { try body("{abc}", length: 4) }
    }

    @Test func `ids may be in angle brackets or empty, and interim responses are left out`() {
        let text =
            "--b\r\nContent-ID: <7>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--b\r\nContent-ID:\r\n\r\nHTTP/1.1 200 OK\r\nContent-ID: <8>\r\n\r\n"
            + "\r\n--b\r\nContent-ID: <>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\nX: y\n\nHTTP/1.1 201 Created\r\nA: b\r\n\r\nc"
            + "\r\n--b--"
        #expect(
            Self.read(Data(text.utf8), "b") == [
                "7 HTTP/1.1 204 No Content 0 []", "8 HTTP/1.1 200 OK 1 []", "- HTTP/1.1 201 Created 1 [99]",
            ])
        // Without a final response, the interim one remains, which isn't an answer.
        #expect(throws: ODataBatchError.self) { try BatchMessage(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8), id: nil).status() }
    }

    @Test func `many interim responses are left out in one scan`() throws {
        // A search of each for two LFs up to the end of the message would take minutes.
        let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\nLink: x\n\r\n", count: 20_000)
        let message = try BatchMessage(Data((interim + "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhi").utf8), id: nil)
        #expect(try message.status() == 200 && message.headers["A"] == "b" && message.body == Data("hi".utf8))
        // An interim response without the empty line at its end stays.
        #expect(try BatchMessage(Data("HTTP/1.1 100 Continue\r\nA: b".utf8), id: nil).headers["A"] == "b")
    }

    @Test func `a malformed message doesn't affect the others`() {
        func part(_ content: String, _ type: String = "application/http") -> String { "--b\r\nContent-Type: \(type)\r\n\r\n\(content)\r\n" }
        let good = part("HTTP/1.1 204 No Content\r\n\r\n")
        let bad = [
            part(""), part("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), part("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc"),
            part("", "multipart/mixed"),
            part("--c\r\nContent-Type: multipart/mixed; boundary=d\r\n\r\n--c--", "multipart/mixed; boundary=c"),
            part("--c\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "multipart/mixed; boundary=c"),
            part(String(repeating: "x", count: (1 << 20) + 1)),
        ]
        for text in bad {
            let found = Self.read(Data((text + good + "--b--").utf8), "b")
            #expect(found.last == "- HTTP/1.1 204 No Content 0 []" && found.count > 1)
            #expect(found.dropLast().contains { $0.hasPrefix("fault") || $0 == "] broken" }, "\(text.prefix(80))")
        }
        // A status line that isn't one is a fault of the response.
        for line in ["HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 2000 x", "HTTP/1.1 100 Continue", "GET a HTTP/1.1", "junk"] {
            #expect(throws: ODataBatchError.self) { try BatchMessage(Data("\(line)\r\n\r\n".utf8), id: nil).status() }
        }
    }

    @Test func `the messages and fields of a change set count towards its bound`() throws {
        let empty = String(repeating: "--c\r\n\r\n\r\n", count: 20_000)
        let long = String(repeating: "--c\r\nX: \(String(repeating: "x", count: 50_000))\r\n\r\n\r\n", count: 30)
        for inner in [empty, long] {
            let text = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n\(inner)--c--\r\n--b--"
            let found = Self.read(Data(text.utf8), "b")
            #expect(found.last == "] broken" && found.count < 10_000)
        }
    }

    @Test func `a batch without its last boundary is never a complete one`() {
        let text = "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--b--"
        for end in 0..<text.utf8.count {
            #expect(Self.read(Data(text.utf8.prefix(end)), "b").last == "end: broken", "\(end)")
        }
    }
}
