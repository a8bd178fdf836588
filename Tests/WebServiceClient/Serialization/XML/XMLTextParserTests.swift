import Foundation
import Testing

@testable import WebServiceClient

/// Well-formedness (XML 1.0, Namespaces in XML 1.0) and the bounds of what is read. The expectations are those of the specifications.
@Suite struct XMLTextParserTests {
    private func fault(_ text: String, _ decoder: XMLDecoder = XMLDecoder()) -> XMLSyntaxError? {
        fault(Data(text.utf8), decoder)
    }

    private func fault(_ data: Data, _ decoder: XMLDecoder = XMLDecoder()) -> XMLSyntaxError? {
        do {
            _ = try decoder.decode(XMLValue.self, from: data)
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return context.underlyingError as? XMLSyntaxError
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    private func read(_ text: String, _ decoder: XMLDecoder = XMLDecoder()) throws -> XMLValue {
        try decoder.decode(XMLValue.self, from: Data(text.utf8))
    }

    @Test(arguments: [
        ("", XMLSyntaxError.Kind.truncated), (" \n", .truncated), ("<", .truncated), ("<a", .truncated), ("<a ", .truncated),
        ("<a b", .truncated), ("<a b=", .truncated), ("<a b='", .truncated), ("<a/", .truncated), ("<a>", .truncated), ("<a>x", .truncated),
        ("<a></", .truncated), ("<a></a", .truncated), ("<a>&", .truncated), ("<a>&am", .truncated), ("<a><!-- x", .truncated),
        ("<a><![CDATA[x", .truncated), ("<a><?x", .truncated), ("<!-- x -->", .truncated), ("<?xml version='1.0'?>", .truncated),
        ("x", .syntax), ("<a/>x", .syntax), ("<a/><b/>", .syntax), ("<a></b>", .syntax), ("<a><b></a></b>", .syntax), ("</a>", .syntax),
        ("<a></a b>", .syntax), ("<a></ab>", .syntax), ("< a/>", .syntax), ("<1/>", .syntax), ("<-a/>", .syntax), ("<.a/>", .syntax),
        ("<a$/>", .syntax), ("<a b/>", .syntax), ("<a b=c/>", .syntax), ("<a b='1'c='2'/>", .syntax), ("<a b='1' b='2'/>", .syntax),
        ("<a b='<'/>", .syntax), ("<a / >", .syntax), ("<a>&#0;</a>", .syntax), ("<a>&#xD800;</a>", .syntax),
        ("<a>&#x110000;</a>", .syntax),
        ("<a>&#99999999999999999999;</a>", .syntax), ("<a>&#;</a>", .syntax), ("<a>&#x;</a>", .syntax), ("<a>&#xG;</a>", .syntax),
        ("<a>& </a>", .syntax), ("<a>&;</a>", .syntax), ("<a>&lt </a>", .syntax), ("<a>]]></a>", .syntax), ("<a>\u{1}</a>", .syntax),
        ("<a>\u{FFFE}</a>", .syntax), ("<a>\u{FFFF}</a>", .syntax), ("<a b='\u{8}'/>", .syntax), ("<a><!-- a -- b --></a>", .syntax),
        ("<a><!-- a ---></a>", .syntax), ("<a><!b></a>", .syntax), ("<![CDATA[x]]><a/>", .syntax), (" <?xml version='1.0'?><a/>", .syntax),
        ("<a><?XML x?></a>", .syntax), ("<?xml version='2.0'?><a/>", .syntax), ("<?xml encoding='utf-8'?><a/>", .syntax),
        ("<?xml version='1.0' version='1.0'?><a/>", .syntax), ("<?xml version='1.0' standalone='yes' encoding='utf-8'?><a/>", .syntax),
        ("<?x'?><a/>", .syntax), ("<a>&nbsp;</a>", .documentType), ("<a b='&eacute;'/>", .documentType),
        ("<!DOCTYPE a><a/>", .documentType), ("<?xml version='1.0'?> <!-- x --> <?y?> <!DOCTYPE a SYSTEM 'a.dtd'><a/>", .documentType),
        ("<a><!DOCTYPE a></a>", .syntax), ("<a/><!DOCTYPE a>", .syntax), ("<p:a/>", .namespace), ("<a p:b='1'/>", .namespace),
        ("<a xmlns:p=''/>", .namespace), ("<a xmlns:xml='u'/>", .namespace), ("<a xmlns:xmlns='u'/>", .namespace),
        ("<a xmlns='http://www.w3.org/2000/xmlns/'/>", .namespace), ("<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", .namespace),
        ("<a:/>", .namespace), ("<:a/>", .namespace), ("<a:b:c/>", .namespace), ("<a xmlns:='u'/>", .namespace),
        ("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", .syntax), ("<a xmlns='u' xmlns='u'/>", .syntax),
        ("<a><b xmlns:p='u'/><p:c/></a>", .namespace),
    ])
    func `What isn't XML is refused`(text: String, kind: XMLSyntaxError.Kind) {
        #expect(fault(text)?.kind == kind, "\(text)")
    }

    @Test(arguments: [
        ("<a/>", "<a/>"), ("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\r\n<a></a>\n<!-- x --><?y z?>\n", "<a/>"),
        ("<a  b = '1'\n\tc=\"2\" ></a  >", "<a b=\"1\" c=\"2\"/>"),
        ("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1f600;</a>", "<a>&lt;&gt;&amp;\"'A😀</a>"),
        ("<a>x<!-- <y> -->z<?p <y>?><![CDATA[<&]]]]>]]&gt;</a>", "<a>xz&lt;&amp;]]]]&gt;</a>"),
        ("<a>a\r\nb\rc\nd&#13;</a>", "<a>a\nb\nc\nd&#13;</a>"),
        ("<a b='x\r\ny\tz&#10;&#9;&#13;'/>", "<a b=\"x y z&#10;&#9;&#13;\"/>"), ("<a>\n <b/>\n</a>", "<a><b/></a>"),
        ("<a>\n <b/> x</a>", "<a>\n <b/> x</a>"), ("<a> </a>", "<a> </a>"), ("<a>&#32;<b/></a>", "<a>&#32;<b/></a>"),
        ("<a><![CDATA[ ]]><b/></a>", "<a>&#32;<b/></a>"),
        ("<a xml:space='preserve'> <b> <c/></b></a>", "<a xml:space=\"preserve\">&#32;<b>&#32;<c/></b></a>"),
        ("<a xml:space='preserve'><b xml:space='default'> <c/></b></a>", "<a xml:space=\"preserve\"><b xml:space=\"default\"><c/></b></a>"),
        ("<é·-.1/>", "<é·-.1/>"), ("<a xmlns='u'><b xmlns=''/></a>", "<a xmlns=\"u\"><b xmlns=\"\"/></a>"),
        ("<p:a xmlns:p='u' p:b='1' b='2'/>", "<p:a xmlns:p=\"u\" p:b=\"1\" b=\"2\"/>"), ("<a>]] ></a>", "<a>]] &gt;</a>"),
        ("<a><?xml-stylesheet x?></a>", "<a/>"), ("<a>&#0000000000000000000000000065;</a>", "<a>A</a>"), ("\u{FEFF}<a/>", "<a/>"),
        ("<a b='>'/>", "<a b=\"&gt;\"/>"), ("<xmlns/>", "<xmlns/>"),
    ])
    func `What is XML is read`(text: String, expected: String) throws {
        #expect(try read(text).xml() == expected)
    }

    @Test func `A fault has its path, line and column`() {
        let error = fault("<a>\n <b>\r\n  é<c></d>\r</b></a>")
        #expect(error?.line == 3 && error?.column == 7 && error?.path == "/a/b/c")
        #expect(error?.description.contains("</c>") == true)
        #expect(fault("<a>\r\r\r<")?.line == 4)
        #expect(fault("<a>password=hunter2</b>")?.description.contains("hunter2") == false)
    }

    @Test func `A document type is skipped on request, and defines nothing`() throws {
        var decoder = XMLDecoder()
        decoder.documentType = .skipped
        for subset in [
            "", " SYSTEM 'http://192.0.2.1/x.dtd'", " PUBLIC \"-//W3C//DTD XHTML 1.0\" 'x' ",
            " [<!ENTITY x 'y'> <!-- ]> ' --> <?p ]> ?> <!ATTLIST a b CDATA ']>'>]",
        ] {
            #expect(try read("<!DOCTYPE a\(subset)><a>1</a>", decoder).text == "1")
            #expect(fault("<!DOCTYPE a\(subset)><a>&x;</a>", decoder)?.kind == .documentType)
            #expect(fault("<!DOCTYPE a\(subset)><!DOCTYPE a><a/>", decoder)?.kind == .syntax)
            #expect(fault("<!DOCTYPE a\(subset)", decoder)?.kind == .truncated)
        }
    }

    @Test func `The known attacks are refused within bounds`() throws {
        let laughs =
            "<!DOCTYPE l [<!ENTITY a '" + String(repeating: "ha", count: 50) + "'>"
            + (0..<10).map { "<!ENTITY b\($0) '" + String(repeating: "&b\(max($0 - 1, 0));", count: 10) + "'>" }.joined() + "]>"
        var skipping = XMLDecoder()
        skipping.documentType = .skipped
        for decoder in [XMLDecoder(), skipping] {
            #expect(fault(laughs + "<l>&b9;</l>", decoder)?.kind == .documentType)
            #expect(fault("<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><l>&x;</l>", decoder)?.kind == .documentType)
            #expect(fault("<!DOCTYPE l [<!ENTITY % x SYSTEM 'http://192.0.2.1/'> %x;]><l>&y;</l>", decoder)?.kind == .documentType)
            let quadratic = "<!DOCTYPE l [<!ENTITY x '" + String(repeating: "a", count: 50_000) + "'>]><l>"
            #expect(fault(quadratic + String(repeating: "&x;", count: 20_000) + "</l>", decoder)?.kind == .documentType)
        }
        #expect(fault(String(repeating: "<a>", count: 100_000) + String(repeating: "</a>", count: 100_000))?.kind == .limit)
        #expect(fault("<a " + (0..<50_000).map { "a\($0)=''" }.joined(separator: " ") + "/>")?.kind == .limit)
        #expect(fault("<a " + (0..<50_000).map { "xmlns:a\($0)='u'" }.joined(separator: " ") + "/>")?.kind == .limit)
        // These take linear time, and aren't faults.
        #expect(try read("<a>" + String(repeating: "x<!---->", count: 50_000) + "</a>").text.utf8.count == 50_000)
        let wide = "<a>" + (0..<20_000).map { "<b\($0)>1</b\($0)>" }.joined() + "</a>"
        #expect(try XMLDecoder().decode([String: Int].self, from: Data(wide.utf8)).count == 20_000)
    }

    @Test func `The bounds are exact`() throws {
        var decoder = XMLDecoder()
        decoder.limits.depth = 3
        #expect(try read("<a><a><a/></a></a>", decoder).name == "a")
        #expect(fault("<a><a><a><a/></a></a></a>", decoder)?.kind == .limit)
        decoder.limits.attributes = 2
        #expect(try read("<a b='' xmlns='u'/>", decoder).attributes.count == 1)
        #expect(fault("<a b='' c='' xmlns='u'/>", decoder)?.kind == .limit)
        decoder.limits.size = 4
        #expect(try read("<a/>", decoder).name == "a")
        #expect(fault("<ab/>", decoder)?.kind == .limit)
        for number in [Int.min, -1, 0] {
            var strict = XMLDecoder()
            strict.limits.size = number
            #expect(fault("<a/>", strict)?.kind == .limit)
            strict = XMLDecoder()
            strict.limits.depth = number
            #expect(fault("<a><a/></a>", strict)?.kind == .limit)
            strict.limits.attributes = number
            #expect(fault("<a b=''/>", strict)?.kind == .limit)
        }
        var greatest = XMLDecoder()
        greatest.limits.size = .max
        greatest.limits.depth = .max
        greatest.limits.attributes = .max
        let deepest = String(repeating: "<a>", count: 512) + String(repeating: "</a>", count: 512)
        #expect(try read(deepest, greatest).xml().count == 511 * 7 + 4)
        #expect(fault("<a>" + deepest + "</a>", greatest)?.kind == .limit)
    }

    @Test(arguments: [
        ("utf-8", "UTF-8"), ("utf-16le", "UTF-16"), ("utf-16be", "UTF-16"), ("utf-16", "UTF-16"), ("utf-32le", "UTF-32"),
        ("iso-8859-1", "ISO-8859-1"), ("windows-1252", "windows-1252"), ("iso-8859-15", "iso-8859-15"), ("us-ascii", "utf-8"),
    ])
    func `Charsets are those of the mark, the zero bytes or the declaration`(charset: String, declared: String) throws {
        let text = charset == "us-ascii" ? "x" : "füß"
        let data = try TextEncoding.named(charset).encode("<?xml version='1.0' encoding='\(declared)'?><a>\(text)</a>")
        #expect(try XMLDecoder().decode(String.self, from: data) == text)
    }

    @Test func `The header's charset beats the declaration, a mark beats both`() throws {
        let latin = try TextEncoding.isoLatin1.encode("<?xml version='1.0' encoding='utf-8'?><a>é</a>")
        #expect(try XMLDecoder().decode(String.self, from: latin, contentType: "text/xml; charset=iso-8859-1") == "é")
        #expect(throws: SerializationError.self) { try XMLDecoder().decode(String.self, from: latin) }
        let marked = Data("\u{FEFF}<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".utf8)
        #expect(try XMLDecoder().decode(String.self, from: marked, contentType: "text/xml; charset=iso-8859-1") == "é")
        // .NET writes this declaration into UTF-8.
        #expect(try XMLDecoder().decode(String.self, from: Data("<?xml version='1.0' encoding='utf-16'?><a>é</a>".utf8)) == "é")
        for name in ["x-unknown", ""] {
            let data = Data("<?xml version='1.0' encoding='\(name)'?><a/>".utf8)
            #expect(throws: SerializationError.self) { try XMLDecoder().decode(String.self, from: data) }
        }
        for bytes: [UInt8] in [[0xFF], [0x3C, 0xFF, 0x2F, 0x3E], [0x3C, 0x61, 0x20, 0xC3, 0x28, 0x3D], [0, 0], [0xFE, 0xFF, 0xD8, 0]] {
            #expect(throws: (any Error).self) { try XMLDecoder().decode(XMLValue.self, from: Data(bytes)) }
        }
    }
}
