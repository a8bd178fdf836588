import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct SetCookieParserTests {
    private static func parsed(_ text: String) throws -> SetCookie { try SetCookieParser.parse(Array(text.utf8)) }

    private static func pair(_ text: String) throws -> [String] {
        let cookie = try parsed(text)
        return [Cookie.text(cookie.name), Cookie.text(cookie.value)]
    }

    private static let pairs: [(String, String, String)] = [
        ("SID=31d4d96e407aad42", "SID", "31d4d96e407aad42"), ("lang=", "lang", ""), ("lang", "", "lang"), ("=value", "", "value"),
        ("==", "", "="), ("a=b=c", "a", "b=c"), (" a b = c d ", "a b", "c d"), ("\ta\t=\tb\t; x", "a", "b"), ("", "", ""),
        (" ; a=b", "", ""),
        (#"a="quoted; b""#, "a", #""quoted"#), ("a=%20+é", "a", "%20+é"), ("a=1,2, 3", "a", "1,2, 3"), ("a=x\ty", "a", "x\ty"),
        ("Secure=1; Secure", "Secure", "1"),
    ]

    @Test(arguments: pairs) func `name and value end at the first semicolon`(text: String, name: String, value: String) throws {
        #expect(try Self.pair(text) == [name, value])
    }

    @Test func `bytes that aren't UTF-8 are kept`() throws {
        let cookie = try SetCookieParser.parse([97, 61, 0xE9, 0xFF])
        #expect(cookie.value == [0xE9, 0xFF] && Cookie.text(cookie.value) == "éÿ")
    }

    @Test func `attributes are read without case, and the last of a kind counts`() throws {
        let cookie = try Self.parsed(
            "a=b; SECURE; httponly=x; Domain=First.test; domain= .Shop.Example ; path=/x; PATH= /Y ; samesite=lax; SameSite=STRICT; u=1;; =; ;"
        )
        #expect(cookie.isSecure && cookie.isHTTPOnly && cookie.sameSite == .strict)
        #expect(cookie.domain == Array("shop.example".utf8) && cookie.path == Array("/Y".utf8))
        #expect(try Self.parsed("a=b; path=/x; path").path == [], "the default path")
        #expect(try Self.parsed("a=b; path=x").path == [] && Self.parsed("a=b").path == nil)
        #expect(try Self.parsed("a=b; samesite=lax; samesite=odd").sameSite == nil)
        #expect(try Self.parsed("a=b; domain").domain == [] && Self.parsed("a=b; domain=..x").domain == Array(".x".utf8))
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("-1", -1), ("007", 7), ("-0", 0), ("-", 0), ("+1", nil), ("1.5", nil), ("1s", nil), ("", nil),
            ("\"1\"", nil),
            ("99999999999999999999999999", 9_999_999_999), ("-99999999999999999999999999", -9_999_999_999),
        ] as [(String, Int64?)]) func `Max-Age is digits with an optional minus`(text: String, seconds: Int64?) throws
    {
        #expect(try Self.parsed("a=b; max-age=\(text)").maxAge == seconds)
    }

    @Test func `a bad date or age leaves an earlier one`() throws {
        let cookie = try Self.parsed("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Expires=never; Max-Age=60; Max-Age=x")
        #expect(cookie.expires == Date(timeIntervalSince1970: 784_111_777) && cookie.maxAge == 60)
    }

    @Test func `long names, values and attributes are refused or ignored`() throws {
        let long = String(repeating: "x", count: 4095)
        #expect(try Self.parsed("a=\(long)").value.count == 4095)
        #expect(try Self.parsed("a=   \(long)   ; Secure").isSecure)
        for text in ["ab=\(long)", "\(long)xx", "a=\(String(repeating: "y", count: 100_000))", String(repeating: "z", count: 100_000)] {
            #expect(throws: CookieRefusal.size) { try Self.parsed(text) }
        }
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(try Self.parsed("a=b; path=\(path)").path?.count == 1024)
        #expect(try Self.parsed("a=b; path=/first; path=\(path)p").path == Array("/first".utf8))
    }

    @Test func `control characters anywhere refuse the field`() throws {
        for byte in (UInt8(0)...31) + [127] where byte != 9 {
            for text in ["a\(Character(Unicode.Scalar(byte)))=b", "a=b; path=/\(Character(Unicode.Scalar(byte)))"] {
                #expect(throws: CookieRefusal.control, "\(byte)") { try Self.parsed(text) }
            }
        }
    }

    @Test func `random fields neither trap nor exceed the limits`() {
        var random = SeededGenerator(seed: 6265)
        let pieces = [
            "a", "=", ";", " ", "Domain", "Path=/", "Max-Age=", "-", "9", "Expires=", "01 Jan", "2030", ":", ",", "\t", "é", "\u{1}",
            "Secure",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0..<20, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let cookie = try? Self.parsed(text) else { continue }
            #expect(cookie.name.count + cookie.value.count <= 4096 && !cookie.name.contains(UInt8(ascii: "=")))
        }
    }
}
