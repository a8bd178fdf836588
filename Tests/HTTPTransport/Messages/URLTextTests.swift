import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct URLTextTests {
    @Test(arguments: [
        ("https://h/a", "b", "https://h/a/b"), ("https://h/a/", "b", "https://h/a/b"), ("https://h/a", "/b", "https://h/a/b"),
        ("https://h/a/", "/b", "https://h/a/b"), ("https://h/a//", "//b", "https://h/a/b"), ("https://h", "b", "https://h/b"),
        ("https://h", "/b", "https://h/b"), ("https://h/", "/", "https://h/"), ("", "b", "b"), ("", "/b", "/b"),
        ("https://h/a", "", "https://h/a"), ("", "", ""), ("/", "b", "/b"), ("a", "b", "a/b"), ("?k=1", "b", "b?k=1"),
        ("?k=1", "/b", "/b?k=1"), ("https://h/a?k=1", "b", "https://h/a/b?k=1"), ("https://h/a?k=1", "b?l=2", "https://h/a/b?k=1&l=2"),
        ("https://h/a?", "b?l=2", "https://h/a/b?l=2"), ("https://h/a?k&", "?l", "https://h/a?k&l"),
        ("https://h/a", "?l=2", "https://h/a?l=2"),
        ("https://h/a#f", "b", "https://h/a/b#f"), ("https://h/a#f", "b#g", "https://h/a/b#g"),
        ("https://h", "//evil/x", "https://h/evil/x"),
        ("https://h", "http://e/", "https://h/http://e/"), ("http://[::1]:8080", "a", "http://[::1]:8080/a"),
        ("https://u:p@h:1/a/", "b", "https://u:p@h:1/a/b"), ("https://h/a?k=1", "#g", "https://h/a?k=1#g"),
    ])
    func `Joining leaves exactly one slash and keeps the base's query`(base: String, relative: String, expected: String) {
        #expect(URLText.joined(base, relative) == expected)
    }

    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
    ])
    func `RFC 3986 section 5.4.1, normal examples`(reference: String, expected: String) {
        #expect(URLText.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
    }

    @Test(arguments: [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ("http:g", "http:g"),
    ])
    func `RFC 3986 section 5.4.2, abnormal examples`(reference: String, expected: String) {
        #expect(URLText.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
    }

    @Test(arguments: [
        ("b", "http://a", "http://a/b"), ("?x", "http://a", "http://a?x"), ("b", "http://a?q/r", "http://a/b"),
        ("//u:p@[2001:db8::1]:81/x", "https://h/", "https://u:p@[2001:db8::1]:81/x"), ("x", "http://[::1]:8/a/b", "http://[::1]:8/a/x"),
        ("/.//x", "a:/b", "a:/.//x"), ("..//x", "http://a/b/c", "http://a//x"), ("./a:b", "x", "./a:b"), ("y", "x/z#f", "x/y"),
        ("%2e%2e/x", "http://a/b/c", "http://a/b/%2e%2e/x"), ("", "http://a/b#f", "http://a/b"),
        ("\u{301}", "http://a/b/", "http://a/b/\u{301}"),
    ])
    func `Resolution beyond the examples`(reference: String, base: String, expected: String) {
        #expect(URLText.resolve(reference, against: base) == expected)
    }

    @Test(arguments: [
        ("/a/b/c/./../../g", "/a/g"), ("mid/content=5/../6", "mid/6"), ("/..", "/"), ("/.", "/"), ("..", ""), (".", ""), ("../a", "a"),
        ("a/..", "/"), ("/a//../b", "/a/b"), ("", ""), ("/...", "/..."), ("./../x/", "x/"),
    ])
    func `Dot segments go as section 5.2.4 says`(path: String, expected: String) {
        #expect(URLText.removingDotSegments(path) == expected)
    }

    @Test func `The parts are told apart and put together again`() {
        let url = URLText.Components("HTTPS://u@x:p@[::1]:443/a:b?c?d=/#e#f")
        #expect(url.scheme == "HTTPS")
        #expect(url.userInformation == "u@x:p")
        #expect(url.host == "[::1]")
        #expect(url.port == 443)
        #expect(url.path == "/a:b")
        #expect(url.query == "c?d=/")
        #expect(url.fragment == "e#f")
        #expect(URLText.Components("//h:70000").port == nil)
        #expect(URLText.Components("//h:70000").portText == "70000")
        #expect(URLText.Components("//h:").portText == "")
        #expect(URLText.Components("//h:99999999999999999999").port == nil)
        #expect(URLText.Components("//[::1").host == "[:")
        #expect(URLText.Components("1a:b").scheme == nil)
        #expect(URLText.Components("a?").query == "")
    }

    @Test func `Any text survives being taken apart, and resolving never traps`() {
        for text in RandomText.hostile(seed: 4, count: 500) {
            #expect(URLText.Components(text).text == text)
            let resolved = URLText.resolve(text, against: "http://a/b/c?q")
            #expect(URLText.Components(resolved).scheme != nil)
            #expect(URLText.joined("http://a/b", text).hasPrefix("http://a/b"))
        }
    }

    @Test func `The quick way of joining gives what the thorough one gives`() {
        var random = RandomText(seed: 8)
        let pieces = ["https:", "/", "//", "h", "a:b", "?", "#", "k=1", "é", "\u{301}", "..", ":", "@"]
        for _ in 0..<5_000 {
            let base = (0..<Int.random(in: 1...4, using: &random)).map { _ in random.choice(of: pieces) }.joined()
            let relative = (0..<Int.random(in: 1...4, using: &random)).map { _ in random.choice(of: pieces) }.joined()
            #expect(URLText.joined(base, relative) == URLText.joinedByParts(base, relative), "\(base) \(relative)")
        }
    }

    @Test func `Repair mends each part by its own rules`() {
        #expect(URLText.repaired("http://h/a b/[c]?d e=\"f\"&g=%20%#h i") == "http://h/a%20b/%5Bc%5D?d%20e=%22f%22&g=%20%25#h%20i")
        #expect(URLText.repaired("http://u b:p@[::1]:80/é") == "http://u%20b:p@[::1]:80/%C3%A9")
        #expect(URLText.repaired("http://h/a%20b?c=d&e") == "http://h/a%20b?c=d&e")
        #expect(URLText.repaired("/a\r\nb") == "/a%0D%0Ab")
    }
}
