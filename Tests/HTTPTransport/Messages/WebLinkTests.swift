import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct WebLinkTests {
    private let page = URL(string: "https://api.test/v1/issues?page=1") ?? URL(filePath: "/")

    private func links(_ values: String...) -> [WebLink] { WebLink.links(in: values, at: page) }

    @Test func `The examples of RFC 8288 §3_5`() throws {
        let previous = try #require(links(#"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#).first)
        #expect(previous.relations == ["previous"] && previous.title == "previous chapter")
        #expect(previous.url?.absoluteString == "http://example.com/TheBook/chapter2")
        #expect(links(#"</>; rel="http://example.net/foo""#).first?.url?.absoluteString == "https://api.test/")
        let anchored = try #require(links(##"</terms>; rel="copyright"; anchor="#foo""##).first)
        #expect(anchored.anchor == "#foo" && anchored.relations == ["copyright"])
        let titled = links(
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel=\"next\"; "
                + "title*=UTF-8'de'n%c3%a4chstes%20Kapitel")
        #expect(titled.map(\.title) == ["letztes Kapitel", "nächstes Kapitel"])
        #expect(titled.first?.parameters.first?.language == "de")
        #expect(
            links(#"<http://example.org/>; rel="start http://example.net/relation/other""#).first?.relations == [
                "start", "http://example.net/relation/other",
            ])
        let two = links(#"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#)
        #expect(two.map(\.relations) == [["start"], ["index"]])
    }

    @Test func `What common patterns get wrong`() throws {
        let hostile = links(
            #"<https://api.test/a,b;c?x=<y>; rel=next; title="a, b; c=\"d\" <e>", <?page=3>;rel="LAST Prev";x , ,, <//other.test/p>;REL='q'"#
        )
        #expect(hostile.map(\.reference) == ["https://api.test/a,b;c?x=<y", "?page=3", "//other.test/p"])
        #expect(hostile[0].title == #"a, b; c="d" <e>"#)
        #expect(hostile[0].url?.absoluteString == "https://api.test/a,b;c?x=%3Cy")
        #expect(hostile[1].url?.absoluteString == "https://api.test/v1/issues?page=3")
        #expect(hostile[1].relations == ["last", "prev"] && hostile[1][parameter: "X"]?.isEmpty == true)
        #expect(hostile[1].has("last") && hostile[1].has("PREV") && !hostile[1].has("next"))
        #expect(hostile[2].url?.absoluteString == "https://other.test/p" && hostile[2].relations == ["q"])
    }

    @Test func `Only the first rel counts, and only the first title, media and type`() throws {
        let link = try #require(
            links("<a>; rel=next; rel=last; title=one; title=two; hreflang=de; hreflang=fr; type=a/b; type=c/d").first)
        #expect(link.relations == ["next"] && link.title == "one")
        #expect(link.parameters.map { "\($0.name)=\($0.value)" } == ["title=one", "hreflang=de", "hreflang=fr", "type=a/b"])
    }

    @Test func `An extended attribute replaces a plain one, unless it can't be decoded`() {
        func title(_ text: String) -> String? { links("<a>; \(text)").first?.title }
        #expect(title("title=plain; title*=UTF-8''%e2%82%ac%20rates") == "€ rates")
        #expect(title("title*=iso-8859-1'en'%A3%20rates; title=plain") == "£ rates")
        for bad in ["UTF-8''%ff", "UTF-8''%e2%8", "UTF-8''%zz", "utf-16''a", "plain", "UTF-8'a"] {
            #expect(title("title=plain; title*=\(bad)") == "plain", "\(bad)")
        }
    }

    @Test func `The rest of a line after an error is ignored, and the next line is read`() {
        #expect(links("<a>; rel=next, oops, <b>; rel=last", "<c>; rel=first").map(\.reference) == ["a", "c"])
        #expect(links("<a", "b>; rel=next", "", " , ", "<>").map(\.reference) == [""])
        #expect(links(#"<a>; rel="next, <b>; rel=last"#).map(\.relations) == [["next,", "<b>;", "rel=last"]])
        #expect(links(#"<a>; rel="next\"#).map(\.relations) == [["next"]])
        #expect(
            links("<a>; rel='next', <b>;REL = 'prev LAST' ; x=y, <c>; rel=\"'up'\"").map(\.relations) == [
                ["next"], ["prev", "last"], ["up"],
            ])
        #expect(links("<a>; rel='", "<a>; rel=''", "<a>; rel='x", "<a>; rel=o'neil").map(\.relations) == [["'"], [], ["'x"], ["o'neil"]])
        #expect(links("<a>").first?.relations == [])
    }

    @Test func `Links are found in fields by relation, without those of another context`() {
        var fields = HTTPFields()
        fields.append("link", #"</x>; rel=next; anchor="/other""#)
        fields.append("Link", "<?page=2>; rel=\"next\", <?page=9>; rel=\"last\"")
        #expect(WebLink.link("Next", in: fields, at: page)?.url?.absoluteString == "https://api.test/v1/issues?page=2")
        #expect(WebLink.links(in: fields, at: page).count == 3)
        #expect(WebLink.link("prev", in: fields, at: page) == nil)
    }

    @Test func `The number of links and parameters is bounded`() {
        let many = String(repeating: "<a>;rel=x,", count: 3_000)
        #expect(links(many, many).count == WebLink.limit)
        #expect(links("<a>" + String(repeating: ";hreflang=x", count: 3_000) + ",<b>;rel=y").map(\.parameters.count) == [1_000, 0])
    }

    @Test func `Written links come back`() throws {
        var random = RandomText(seed: 82_88)
        for _ in 0..<Sweep.rounds(ofAll: 4_000) {
            let targets = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                random.text(upTo: 12).replacing(">", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let titles = targets.map { _ in random.text(upTo: 12) }
            let field = zip(targets, titles).map { target, title in
                let quoted = title.unicodeScalars.map { #""\"#.unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined()
                let extended = URLEncoding.encode(title)
                return Bool.random(using: &random)
                    ? "<\(target)>; rel=\"a next\"; title=\"\(quoted)\""
                    : "<\(target)>; title=\"\"; title*=utf-8''\(extended) ;rel=\"a next\""
            }.joined(separator: [",", ", ", " ,, "].randomElement(using: &random) ?? ",")
            let found = links(field)
            try #require(found.count == targets.count, "\(field.debugDescription)")
            #expect(found.map { Array($0.reference.utf8) } == targets.map { Array($0.utf8) })
            #expect(found.map { Array(($0.title ?? "").utf8) } == titles.map { Array($0.utf8) }, "\(field.debugDescription)")
            #expect(found.allSatisfy { $0.relations == ["a", "next"] })
        }
    }

    @Test func `The texts of a link show no secrets of its URL`() throws {
        let target = "https://ada:Zq7mK2vX@h.test/p?access_token=Zq7mK2vX&page=2"
        let link = try #require(links("<\(target)>; rel=\"next last\"; token=\"Zq7mK2vX\"").first)
        #expect(link.description == "https://<masked>@h.test/p?access_token=<masked>&page=2 (next last)")
        var dumped = ""
        dump([link], to: &dumped)
        let texts = ["\([link])", String(reflecting: link), "\(Optional(link) as Any)", dumped]
        #expect(texts.allSatisfy { !$0.contains("Zq7mK2") && $0.contains("next") }, "\(texts)")
    }

    @Test func `No text is a trap`() {
        for text in RandomText.hostile(seed: 7, count: Sweep.rounds(ofAll: 4_000)) {
            _ = links(text, "<\(text)>; rel=\"\(text)\"; \(text); title*=\(text)", "<a>;\(text)=\(text),\(text)")
        }
    }
}
