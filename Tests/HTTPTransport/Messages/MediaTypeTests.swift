import HTTPTransport
import TestSupport
import Testing

@Suite struct MediaTypeTests {
    @Test func `A value in single quotes that are meant comes back`() throws {
        let type = try #require(MediaType(#"a/b; x="'c'""#))
        #expect(type["x"] == "'c'")
        #expect(MediaType(type.description) == type)
    }

    @Test(
        "Reads what servers really send",
        arguments: [
            ("text/html", "text/html", nil),
            (" Text/HTML ; Charset=UTF-8 ", "text/html", "UTF-8"),
            ("text/html;charset=\"utf-8\"", "text/html", "utf-8"),
            ("text/html; charset='utf-8'", "text/html", "utf-8"),
            ("text/html; charset = utf-8", "text/html", "utf-8"),
            ("text/html charset=utf-8", "text/html", "utf-8"),
            ("text/html;;;charset=utf-8;", "text/html", "utf-8"),
            ("text/html; level; charset=utf-8", "text/html", "utf-8"),
            ("text/html; charset=\"utf-8", "text/html", "utf-8"),
            ("text/html; charset=utf-8, text/html", "text/html", "utf-8"),
            ("text/html; =x; charset=utf-8", "text/html", "utf-8"),
            ("text/html; charset=", "text/html", ""),
            ("text/html; charset='", "text/html", "'"),
            ("*/*;q=0.5", "*/*", nil),
            ("application / json", "application/json", nil),
        ] as [(String, String, String?)])
    func leniency(text: String, essence: String, charset: String?) throws {
        let type = try #require(MediaType(text))
        #expect(type.essence == essence)
        #expect(type.charset == charset)
    }

    /// Based on the tests of the MIME Sniffing Standard, but lenient in some cases that it rejects.
    @Test(
        "A parameter isn't found inside of a quoted value",
        arguments: [
            (#"text/html;in]valid=";asd=foo";foo=bar"#, ["foo": "bar"], ["asd"]),
            (#"text/html;x=";charset=GBK""#, ["x": ";charset=GBK"], ["charset"]),
            (#"text/html;charset=";charset=foo";charset=GBK"#, ["charset": ";charset=foo"], []),
            ("text/html;charset=gbk(", ["charset": "gbk("], []),
            ("text/html;x=(;charset=gbk", ["x": "(", "charset": "gbk"], []),
            (#"text/html;x="a\";charset=foo";charset=bar"#, ["x": #"a";charset=foo"#, "charset": "bar"], []),
            (#"text/html;charset="gbk"x;y=1"#, ["charset": "gbk", "y": "1"], ["x"]),
            (#"text/html;a="1"b=2;c=3"#, ["a": "1", "c": "3"], ["b"]),
            (#"text/html;@=";charset=a";charset=b"#, ["charset": "b"], []),
            (#"text/html;a b c=";d=1";e=2"#, ["c": ";d=1", "e": "2"], ["d"]),
            (#"text/html;[x]="y;charset=a";z=1"#, ["z": "1"], ["charset", "x"]),
            (#"text/html;x="\\";charset=gbk"#, ["x": #"\"#, "charset": "gbk"], []),
            (#"text/html;"x=";y=1";charset=gbk"#, ["charset": "gbk"], []), (#"text/html;a="b;c=d"#, ["a": "b;c=d"], ["c"]),
            (#"text/html;(x);charset=gbk"#, ["charset": "gbk"], ["x"]), (#"text/html;é=";x=1";y=2"#, ["y": "2"], ["x"]),
            (#"multipart/form-data;boundary="a;charset=b";x"#, ["boundary": "a;charset=b"], ["charset"]),
            (#"text/html;a=b"c=d";e=f"#, ["a": #"b"c=d""#, "e": "f"], ["c"]),
            (#"text/html;in]valid=";asd=foo", text/plain;charset=x"#, [:], ["asd", "charset"]),
            (#"text/html;charset=utf-8;charset=gbk"#, ["charset": "utf-8"], []),
        ] as [(String, [String: String], [String])])
    func quoting(text: String, values: [String: String], absent: [String]) throws {
        let type = try #require(MediaType(text))
        for (name, value) in values { #expect(type[name] == value, "\(name)") }
        for name in absent { #expect(type[name] == nil, "\(name)") }
        #expect(MediaType(type.description) == type)
    }

    @Test("What has no type and subtype is none", arguments: ["", " ", "text", "text/", "/html", "te xt/html", ";charset=utf-8", "\u{0}"])
    func refusal(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test func `A quoted value keeps its blanks, quotes and semicolons`() throws {
        let type = try #require(MediaType(#"multipart/form-data; boundary="a \"b\"; c\\d"; x=1"#))
        #expect(type["Boundary"] == #"a "b"; c\d"#)
        #expect(type["x"] == "1")
        #expect(type.description == #"multipart/form-data; boundary="a \"b\"; c\\d"; x=1"#)
    }

    @Test func `Suffix and quality`() {
        #expect(MediaType("application/vnd.github+json")?.suffix == "json")
        #expect(MediaType("application/problem+xml; charset=utf-8")?.suffix == "xml")
        #expect(MediaType("application/json")?.suffix == nil)
        #expect(MediaType("application/x+")?.suffix == nil)
        #expect(MediaType("text/html;q=0.25")?.quality == 0.25)
        #expect(MediaType("text/html;q=\"0.25\"")?.quality == 0.25)
        #expect(MediaType("text/html;q=7")?.quality == 1)
        #expect(MediaType("text/html;q=-1")?.quality == 0)
        #expect(MediaType("text/html;q=nan")?.quality == 1)
        #expect(MediaType("text/html")?.quality == 1)
    }

    @Test func `Parts that no header may carry make no media type`() {
        #expect(MediaType(type: "text", subtype: "html", parameters: [("charset", "utf-8")])?.description == "text/html; charset=utf-8")
        #expect(MediaType(type: "te xt", subtype: "html") == nil)
        #expect(MediaType(type: "text", subtype: "html", parameters: [("a b", "c")]) == nil)
        #expect(MediaType(type: "text", subtype: "html", parameters: [("a", "c\r\nX: y")]) == nil)
    }

    @Test func `Printing and reading give back the same`() {
        var seed = SerializationSeed(1)
        for _ in 0..<2000 {
            let value = String(seed.text(upTo: 12).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" })
            let type = MediaType(type: "text", subtype: "x", parameters: [("a", value), ("b", "c")])
            #expect(type != nil)
            #expect(type.flatMap { MediaType($0.description) } == type, "\(value)")
        }
    }

    @Test func `Any text is read or refused, and what was read can be printed and read again`() {
        var seed = SerializationSeed(2)
        for _ in 0..<5000 {
            let text = "a/b" + seed.text(upTo: 24)
            guard let type = MediaType(text) else { continue }
            #expect(MediaType(type.description) == type, "\(text)")
        }
        for _ in 0..<5000 {
            _ = MediaType(String(decoding: seed.bytes(upTo: 40), as: UTF8.self))
        }
    }
}
