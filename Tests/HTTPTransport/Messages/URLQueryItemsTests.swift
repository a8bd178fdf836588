import Foundation
import Testing

@testable import HTTPTransport

@Suite struct URLQueryItemsTests {
    private func changed(_ url: String, _ change: (inout URLQueryItems) -> Void) throws -> String? {
        let url = try #require(URL(string: url))
        var items = URLQueryItems(of: url)
        change(&items)
        return items.replacingQuery(of: url)?.absoluteString
    }

    @Test(arguments: [
        ("https://a.test/x", "https://a.test/x?page%5Bn%5D=a%20b%26"), ("https://a.test/x?", "https://a.test/x?page%5Bn%5D=a%20b%26"),
        ("https://a.test/x?q=%2b+1&page%5bn%5d=1&z&page%5Bn%5D=2#f", "https://a.test/x?q=%2b+1&page%5Bn%5D=a%20b%26&z#f"),
        ("https://a.test?b&&c=&", "https://a.test?b&&c=&page%5Bn%5D=a%20b%26"),
    ]) func `only the item is changed`(url: String, expected: String) throws {
        #expect(try changed(url) { $0.set("page[n]", to: "a b&") } == expected)
    }

    @Test func `an item at the end replaces all of its name`() throws {
        #expect(try changed("https://a.test/?k=1&x=k&k") { $0.move("k", toEndWith: "2") } == "https://a.test/?x=k&k=2")
        #expect(try changed("https://a.test/?a+k=1&a%20k=2&b") { $0.move("a k", toEndWith: "3") } == "https://a.test/?b&a%20k=3")
    }

    @Test func `the value of an item is decoded`() {
        let items = URLQueryItems("a=1&b&c=%20&d=%zz&a=2&a+b=3&c+=4&%C3%A9==5&=6")
        let names = ["a", "b", "c", "d", "e", "a b", "a+b", "c ", "é", ""]
        #expect(names.map { items.value(of: $0) } == ["1", "", " ", "%zz", nil, "3", "3", "4", "=5", "6"])
        #expect(names.map { items.contains($0) } == [true, true, true, true, false, true, true, true, true, true])
        #expect(items.text == "a=1&b&c=%20&d=%zz&a=2&a+b=3&c+=4&%C3%A9==5&=6")
    }

    @Test func `nothing is lost at a combining character, and an empty query has no items`() throws {
        var items = URLQueryItems("a&\u{301}=1&b=\u{301}")
        #expect(items.value(of: "\u{301}") == "1")
        items.set("a", to: "2")
        #expect(items.text == "a=2&\u{301}=1&b=\u{301}")
        #expect(!URLQueryItems("").contains("") && !URLQueryItems(nil).contains("") && URLQueryItems("").text.isEmpty)
        #expect(try changed("https://a.test/?#f") { _ in } == "https://a.test/#f")
    }
}
