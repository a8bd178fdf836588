import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct URLEncodingTests {
    @Test func `Blank, plus and delimiters of a query value are encoded`() {
        #expect(URLEncoding.queryValue("a b+c&d=e#f;g/h?i%20") == "a%20b%2Bc%26d%3De%23f%3Bg%2Fh%3Fi%2520")
        #expect(URLEncoding.queryName("filter[a]") == "filter%5Ba%5D")
    }

    @Test func `A path segment keeps unreserved characters only`() {
        #expect(URLEncoding.pathSegment("a/b?c#d:e@f") == "a%2Fb%3Fc%23d%3Ae%40f")
        #expect(URLEncoding.pathSegment("Az09-._~") == "Az09-._~")
        #expect(URLEncoding.pathSegment("é\0") == "%C3%A9%00")
    }

    @Test func `A fragment keeps its delimiters`() {
        #expect(URLEncoding.fragment("/a?b#c%d e") == "/a?b%23c%25d%20e")
    }

    @Test func `Dot segments are seen through their encoding`() {
        for segment in [".", "..", "%2e", "%2E.", ".%2e", "%2E%2e"] { #expect(URLEncoding.isDotSegment(segment)) }
        for segment in ["", "...", "a", ".a", "%2", "%252e", "%2e%2e%2e"] { #expect(!URLEncoding.isDotSegment(segment)) }
    }

    @Test func `Whatever is encoded decodes to itself and stays in its alphabet`() {
        let alphabets: [URLEncoding.Alphabet] = [.unreserved, .pathSegment, .path, .query, .userInformation, .hostName, .form]
        for text in RandomText.hostile(seed: 1, count: 500) {
            for alphabet in alphabets {
                let encoded = URLEncoding.encode(text, allowing: alphabet)
                #expect(URLEncoding.decode(encoded) == text)
                #expect(encoded.utf8.allSatisfy { $0 == URLEncoding.percent || alphabet.contains($0) })
                #expect(URLEncoding.isEncoded(encoded, allowing: alphabet))
                var bytes: [UInt8] = []
                URLEncoding.append(text, to: &bytes, allowing: alphabet)
                #expect(bytes == Array(encoded.utf8))
            }
        }
    }

    @Test func `The alphabets hold exactly what the RFC lists`() {
        func characters(_ alphabet: URLEncoding.Alphabet) -> String {
            String(decoding: (0...255).map { UInt8($0) }.filter(alphabet.contains), as: UTF8.self)
        }
        let digitsAndLetters = (digits: "0123456789", upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", lower: "abcdefghijklmnopqrstuvwxyz")
        let (digits, upper, lower) = digitsAndLetters
        #expect(characters(.unreserved) == "-.\(digits)\(upper)_\(lower)~")
        #expect(characters(.pathSegment) == "!$&'()*+,-.\(digits):;=@\(upper)_\(lower)~")
        #expect(characters(.query) == "!$&'()*+,-./\(digits):;=?@\(upper)_\(lower)~")
        #expect(characters(.form) == "*-.\(digits)\(upper)_\(lower)")
        #expect(characters(.reserved) == "!#$&'()*+,/:;=?@[]")
        #expect(characters(URLEncoding.Alphabet("é")) == "")
    }

    @Test func `Decoding refuses broken triplets and broken UTF-8`() {
        for text in ["%", "a%", "%4", "%zz", "%4g", "%C3", "%C3%28", "%ff", "%ED%A0%80", "%C0%80"] {
            #expect(URLEncoding.decode(text) == nil)
        }
        #expect(URLEncoding.decode("%EF%BF%BD") == "\u{FFFD}")
        #expect(URLEncoding.decode("%c3%A9+é") == "é+é")
        #expect(URLEncoding.decodeBytes("%ff%00") == [255, 0])
    }

    @Test func `Repair encodes what may not stand raw and keeps triplets`() {
        #expect(URLEncoding.repaired("a b%20c%d%C3é", allowing: .pathSegment) == "a%20b%20c%25d%C3%C3%A9")
        #expect(URLEncoding.repaired("%", allowing: .pathSegment) == "%25")
        #expect(!URLEncoding.isEncoded("a%2", allowing: .path))
        #expect(!URLEncoding.isEncoded("a b", allowing: .path))
        for text in RandomText.hostile(seed: 2, count: 500) {
            let repaired = URLEncoding.repaired(text, allowing: .query)
            #expect(URLEncoding.isEncoded(repaired, allowing: .query))
            #expect(URLEncoding.repaired(repaired, allowing: .query) == repaired)
        }
    }
}
