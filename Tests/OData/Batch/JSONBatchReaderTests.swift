import Foundation
import Testing
import WebServiceClient

@testable import OData

@Suite struct JSONBatchReaderTests {
    private func read(_ text: String, pieces: Int = 1 << 16) throws -> [BatchReply] {
        let reader = JSONBatchReader(limit: 1 << 16)
        var replies: [BatchReply] = []
        func drain() throws {
            while let step = try reader.next() { if case .reply(let reply) = step { replies.append(reply) } }
        }
        var rest = Data(text.utf8)[...]
        while !rest.isEmpty {
            try reader.feed(Data(rest.prefix(pieces)))
            try drain()
            rest = rest.dropFirst(pieces)
        }
        reader.finish()
        try drain()
        return replies
    }

    private let sample = #"""
        {"responses": [{"id":"2","status":200,"headers":{"Content-Type":"application/json","etag":"W/\"1\""},"body":{"a":[1,"}"], "b" :null}},
        {"status":"204","id":1,"atomicityGroup":"g"}, {"id":"3","status":200,"headers":{"content-type":"text/plain"},"body":"7\n"},
        {"id":"4","status":200,"headers":{"content-type":"image/png"},"body":"__4"},
        {"id":"5","status":400,"headers":{"content-type":"application/json"},"body":"{\"error\":{}}"}], "@odata.nextLink":"more"}
        """#

    @Test func `responses are read with their bodies in each form`() throws {
        let replies = try read(sample)
        #expect(replies.map(\.id) == ["2", "1", "3", "4", "5"] && replies.map(\.status) == [200, 204, 200, 200, 400])
        #expect(replies.allSatisfy { $0.fault == nil } && replies[0].headers["ETag"] == "W/\"1\"")
        #expect(String(decoding: replies[0].body, as: UTF8.self) == #"{"a":[1,"}"], "b" :null}"#)
        #expect(replies[2].body == Data("7\n".utf8) && replies[3].body == Data([0xFF, 0xFE]))
        #expect(replies[4].body == Data(#"{"error":{}}"#.utf8))
        for size in [1, 2, 3, 7, 64] { #expect(try read(sample, pieces: size) == replies) }
    }

    @Test func `a field may have a list of values`() throws {
        let reply = try #require(
            try read(#"{"responses":[{"id":"1","status":204,"headers":{"set-cookie":["a=1","b=2"],"X-N":5,"x-none":null}}]}"#).first)
        #expect(reply.headers[values: "Set-Cookie"] == ["a=1", "b=2"] && reply.headers["X-N"] == "5" && reply.headers["X-None"] == nil)
    }

    @Test func `JSON may be a string, also in base64url`() throws {
        func body(_ value: String) throws -> String {
            let replies = try read(
                #"{"responses":[{"id":"1","status":200,"headers":{"content-type":"application/json"},"body":"\#(value)"}]}"#)
            return String(decoding: replies.first?.body ?? Data(), as: UTF8.self)
        }
        #expect(try body(#" {\"a\":1}"#) == #" {"a":1}"#)
        #expect(try body(Data(#"{"a":"é"}"#.utf8).base64EncodedString()) == #"{"a":"é"}"#)
        // Text that isn't an object remains a string.
        #expect(try body("abcd") == #""abcd""# && body("hello there") == #""hello there""# && body("") == #""""#)
    }

    @Test func `XML may be a text, or base64url as the format demands`() throws {
        let xml = "<?xml version=\"1.0\"?><error><code>1</code><message>é</message></error>"
        for type in ["application/xml", "application/atom+xml;type=entry"] {
            for text in [
                String(decoding: try JSONEncoder().encode(xml), as: UTF8.self), "\"\(Data(xml.utf8).base64EncodedString())\"",
                "\"\(EdmBinary(Data(xml.utf8)))\"",
            ] {
                let reply = try #require(
                    try read(#"{"responses":[{"id":"1","status":500,"headers":{"content-type":"\#(type)"},"body":\#(text)}]}"#).first)
                #expect(String(decoding: reply.body, as: UTF8.self) == xml)
            }
        }
    }

    @Test func `the link to further responses is found`() throws {
        let reader = JSONBatchReader(limit: 1 << 16)
        try reader.feed(Data(sample.utf8))
        while try reader.next() != nil {}
        reader.finish()
        while try reader.next() != nil {}
        #expect(try reader.nextLink() == "more")
    }

    @Test func `a response that can't be read doesn't affect the others`() throws {
        let texts = [
            #"{"id":"1"}"#, #"{"id":"1","status":"x"}"#, #"{"id":"1","status":99}"#, #"{"id":"1","status":1e3}"#, "7", "null",
            #"{"id":"1","status":200,"headers":{"content-type":"image/png"},"body":"?"}"#,
        ]
        for text in texts {
            let replies = try read(#"{"responses":[\#(text),{"id":"2","status":204}]}"#)
            #expect(replies.count == 2 && replies[0].fault != nil && replies[1].fault == nil, "\(text)")
        }
    }

    @Test func `an answer that is cut or isn't a batch is an error`() throws {
        for end in 0..<sample.utf8.count where sample.utf8.prefix(end).last != UInt8(ascii: "}") || end < sample.utf8.count - 1 {
            #expect(throws: (any Error).self, "\(end)") { try read(String(decoding: sample.utf8.prefix(end), as: UTF8.self)) }
        }
        #expect(throws: ODataBatchError.self) { try read(#"{"value":[]}"#) }
        #expect(throws: ODataErrorBody.self) { try read(#"{"error":{"code":"a","message":"b"}}"#) }
    }
}
