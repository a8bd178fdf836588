import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct ContentRangeTests {
    // The forms of RFC 9110 §14.4, with its examples.
    @Test(
        arguments: [
            ("bytes 42-1233/1234", 42, 1_233, 1_234), ("bytes 42-1233/*", 42, 1_233, nil), ("bytes 0-499/1234", 0, 499, 1_234),
            ("bytes 500-999/1234", 500, 999, 1_234), ("bytes 734-1233/1234", 734, 1_233, 1_234), ("BYTES 0-0/1", 0, 0, 1),
            (" bytes  3-4/7 ", 3, 4, 7), ("bytes 0-9223372036854775806/9223372036854775807", 0, .max - 1, .max),
        ] as [(String, Int64, Int64, Int64?)])
    func `a field`(text: String, first: Int64, last: Int64, total: Int64?) {
        let range = ContentRange(text)
        #expect(range == ContentRange(first...last, of: total) && range?.count == last - first + 1)
        #expect(ContentRange(range?.text) == range)
    }

    @Test func `a range that can't be satisfied`() {
        #expect(ContentRange("bytes */1234") == ContentRange(nil, of: 1_234) && ContentRange("bytes */0")?.count == nil)
        #expect(ContentRange(nil, of: 42).text == "bytes */42")
    }

    @Test(arguments: [
        "", " ", "bytes", "bytes 0-9", "bytes 0-9/", "bytes 0-9/9", "bytes 5-4/9", "bytes -5/9", "bytes 0-/9", "bytes */*",
        "items 0-9/10", "bytes 0-9/10/11", "bytes 0-9,12-13/20", "bytes 0-9/10, bytes 0-9/10", "bytes 0-9999999999999999999/*",
        "bytes 0-9223372036854775807/*", "bytes +1-2/9", "bytes=0-9/10", "bytes 0 - 9/10", "bytes 0-٩/10", "bytes 0-9/+10",
        "bytes\u{A0}0-9/10", "bytes 0-9/10\u{301}", "bytes 0-9/10" + String(repeating: " ", count: 100),
    ])
    func `an invalid field`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `no field, and random ones`() {
        #expect(ContentRange(nil) == nil)
        var random = SeededGenerator(seed: 14)
        let pieces = ["bytes", " ", "-", "/", "*", "0", "9", "42", "9223372036854775807", "99999999999999999999", "\t", "é"]
        for _ in 0..<Sweep.rounds(ofAll: 4_000) {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let range = ContentRange(text) else { continue }
            #expect(ContentRange(range.text) == range, "\(text)")
            if let bytes = range.bytes { #expect(bytes.upperBound < range.total ?? .max, "\(text)") }
        }
    }

    @Test func `parts with ranges of their own`() {
        let (parts, mixed): (HTTPFields, HTTPFields) = (
            ["Content-Type": "Multipart/ByteRanges; boundary=x"], ["Content-Type": "multipart/mixed"]
        )
        #expect(parts.isMultipartByteRanges && !mixed.isMultipartByteRanges && !HTTPFields().isMultipartByteRanges)
    }

    @Test func `the codings of a body`() {
        func names(_ values: String...) -> [String] {
            var fields = HTTPFields()
            for value in values { fields.append(.contentEncoding, value) }
            #expect(ContentCoding.isPresent(in: fields) == !ContentCoding.names(in: fields).isEmpty)
            return ContentCoding.names(in: fields)
        }
        #expect(names().isEmpty && names("").isEmpty && names("Identity, ,\tidentity").isEmpty)
        #expect(names("GZIP , x-other") == ["gzip", "x-other"] && names("deflate", "br") == ["deflate", "br"])
    }
}
