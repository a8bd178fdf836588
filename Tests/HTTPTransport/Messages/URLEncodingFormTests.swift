import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct URLEncodingFormTests {
    @Test func `Form fields follow the WHATWG rules`() {
        #expect(URLEncoding.formField("a b+c~d*e-f._") == "a+b%2Bc%7Ed*e-f._")
        #expect(URLEncoding.form([("q", "x y"), ("n", nil), ("e", "")]) == "q=x+y&n&e=")
        #expect(URLEncoding.form([]) == "")
    }

    @Test func `A query writes a blank as a triplet`() {
        #expect(URLEncoding.query([("a b", "c d"), ("e", nil)]) == "a%20b=c%20d&e")
    }

    @Test func `Parsing skips empty pieces and splits at the first equals sign`() {
        let pairs = URLEncoding.parseForm("&a=b=c&&d&=e&f=")
        #expect(pairs?.map(\.name) == ["a", "d", "", "f"])
        #expect(pairs?.map(\.value) == ["b=c", nil, "e", ""])
        #expect(URLEncoding.parseForm("a=%f") == nil)
        #expect(URLEncoding.parseForm("%ff=a") == nil)
        #expect(URLEncoding.parseQuery("a=b+c")?.first?.value == "b+c")
        #expect(URLEncoding.parseForm("a=b+c")?.first?.value == "b c")
    }

    @Test func `What was written is read back, pair by pair`() {
        var random = RandomText(seed: 3)
        for _ in 0..<300 {
            // An empty name without a value isn't visible in the text.
            let pairs = (0..<Int.random(in: 0...5, using: &random)).map { _ -> (name: String, value: String?) in
                ("n" + random.text(upTo: 6), Bool.random(using: &random) ? random.text(upTo: 12) : nil)
            }
            for parsed in [URLEncoding.parseForm(URLEncoding.form(pairs)), URLEncoding.parseQuery(URLEncoding.query(pairs))] {
                #expect(parsed?.map(\.name) == pairs.map(\.name))
                #expect(parsed?.map(\.value) == pairs.map(\.value))
            }
        }
    }

    @Test func `Header values hold no control characters but the tab`() {
        #expect(URLEncoding.headerFault(in: "text/plain;\tq=1 é") == nil)
        #expect(URLEncoding.headerFault(in: "a\r\nb")?.description == "holds a carriage return (U+000D) at offset 1")
        #expect(URLEncoding.headerFault(in: "é\n")?.offset == 2)
        #expect(URLEncoding.headerFault(in: "\0")?.character == "\0")
        for byte in UInt8(0)...127 {
            let isControl = (byte < 32 && byte != 9) || byte == 127
            #expect((URLEncoding.headerFault(in: String(Unicode.Scalar(byte))) != nil) == isControl)
        }
    }

    @Test func `Tokens are spelled as RFC 9110 says`() {
        #expect(URLEncoding.isToken("X-Rate_Limit!#$%&'*+.^`|~9"))
        for text in ["", "a b", "a:b", "é", "a\r", "(a)"] { #expect(!URLEncoding.isToken(text)) }
    }
}
