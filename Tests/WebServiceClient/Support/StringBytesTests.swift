import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct StringBytesTests {
    @Test("bytes below a limit are found as one by one, at every place and beside every neighbour")
    func below() {
        for count in 0...19 {
            for place in 0..<max(count, 1) {
                for byte: UInt8 in [0, 9, 10, 13, 14, 15, 31, 32, 127] {
                    for filler: UInt8 in [14, 15, 127] {
                        var bytes = [UInt8](repeating: filler, count: count)
                        if count > 0 { bytes[place] = byte }
                        let text = String(decoding: bytes, as: UTF8.self)
                        #expect(text.hasBytes(below: 14) == bytes.contains { $0 < 14 }, "\(bytes)")
                    }
                }
            }
        }
        for text in ["é\u{80}\u{ff}€😀 and more of it", "\u{80}\n", "ééééééé\r", "a longer text that isn't ASCII: ä\u{0}"] {
            #expect(text.hasBytes(below: 14) == text.utf8.contains { $0 < 14 })
            #expect(text.hasBytes(below: 128) == text.utf8.contains { $0 < 128 })
        }
    }

    @Test("a line is broken by CR, LF and NUL, and by nothing else")
    func lineBreaks() {
        for scalar in (0...0x2029).compactMap(Unicode.Scalar.init) {
            for text in [String(scalar), "a value of more than fifteen bytes \(scalar)", "\(scalar) a value of more than fifteen bytes"] {
                #expect(HTTPFields.Field.breaksLine(text) == ["\r", "\n", "\0"].contains(scalar), "\(scalar.value)")
            }
        }
    }

    @Test("a token has the bytes of RFC 9110 §5.6.2")
    func tokens() {
        let allowed = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars
        for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
            #expect(HTTPFields.Name(String(scalar)).isValid == allowed.contains(scalar), "\(scalar.value)")
            #expect(HTTPFields.Name("X-Some-Longer-Name\(scalar)").isValid == allowed.contains(scalar), "\(scalar.value)")
        }
        #expect(!HTTPFields.Name("").isValid)
    }

    @Test("a method is a token")
    func methods() {
        #expect(ServiceRequest.Method.get.isValid)
        #expect(!ServiceRequest.Method(rawValue: "GET /").isValid)
        #expect(!ServiceRequest.Method(rawValue: "").isValid)
    }

    @Test("URLs are joined at one slash as they are by their parts")
    func joining() {
        var generator = SeededGenerator(seed: 8)
        let pieces = ["/", "a", "b%2F", "é", ":", "//", ".", "", "long-enough-to-be-no-small-string"]
        for _ in 0..<2_000 {
            let base = (0..<Int.random(in: 0...4, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let relative = (0..<Int.random(in: 1...4, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
            let root = "https://host.example/" + base
            guard !relative.isEmpty else { continue }
            #expect(URLText.joined(root, relative) == URLText.joinedByParts(root, relative), "\(root) \(relative)")
        }
    }
}
