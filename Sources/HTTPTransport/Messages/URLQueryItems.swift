package import Foundation

/// The items of a URL's query in their original encoding, such as `name=value`. Changing an item leaves the text of the others unchanged.
///
/// `URLComponents` decodes and encodes all items, which changes signatures and cache keys. Names are compared in decoded form. A `+` in the
/// URL matches both a plus sign and, as in forms, a space.
package struct URLQueryItems: Sendable {
    private var items: [Substring]

    /// Splits a query without its `?` at each `&`. Empty items are kept.
    package init(_ query: String?) {
        // On UTF-8: a combining character after an ampersand belongs to the next item.
        let parts = query?.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) ?? []
        items = parts.count == 1 && parts[0].isEmpty ? [] : parts.map { Substring($0) }
    }

    /// Splits the query of a URL.
    package init(of url: URL) {
        self.init(URLText.Components(url.absoluteString).query)
    }

    /// The query without its `?`.
    package var text: String { items.joined(separator: "&") }

    /// Whether there is an item with a name.
    package func contains(_ name: String) -> Bool {
        items.contains { Self.has($0, name) }
    }

    /// The decoded value of the first item with a name; `nil` if there is no such item. The value is empty if the item has no `=`, and
    /// stays encoded if an escape is invalid.
    package func value(of name: String) -> String? {
        guard let item = items.first(where: { Self.has($0, name) }) else { return nil }
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return "" }
        let value = String(item[item.utf8.index(after: equals)...])
        return URLEncoding.decode(value) ?? value
    }

    /// Replaces the first item with a name, and removes the others. Without such an item, appends one.
    package mutating func set(_ name: String, to value: String) {
        guard let first = items.firstIndex(where: { Self.has($0, name) }) else { return append(Self.pair(name, value)) }
        items[first] = Self.pair(name, value)[...]
        let rest = items[(first + 1)...].filter { !Self.has($0, name) }
        items.replaceSubrange((first + 1)..., with: rest)
    }

    /// Removes the items with a name, and appends one. Some services require the item at the end.
    package mutating func move(_ name: String, toEndWith value: String) {
        items.removeAll { Self.has($0, name) }
        append(Self.pair(name, value))
    }

    /// Appends an encoded item.
    package mutating func append(_ pair: String) {
        // A query that ends with an ampersand would get an empty item.
        while items.last?.isEmpty == true { items.removeLast() }
        items.append(pair[...])
    }

    /// Returns a URL with these items in place of its query; `nil` if the result isn't a URL. The other parts keep their text.
    package func replacingQuery(of url: URL) -> URL? {
        var parts = URLText.Components(url.absoluteString)
        parts.query = items.isEmpty ? nil : text
        return URL(string: parts.text)
    }

    /// An encoded item.
    package static func pair(_ name: String, _ value: String?) -> String {
        let name = URLEncoding.queryName(name)
        return value.map { name + "=" + URLEncoding.queryValue($0) } ?? name
    }

    /// Whether an item has a name.
    private static func has(_ item: Substring, _ name: String) -> Bool {
        let written = String(item.utf8.prefix { $0 != UInt8(ascii: "=") }) ?? ""
        if written.utf8.elementsEqual(name.utf8) { return true }
        if (URLEncoding.decode(written) ?? written) == name { return true }
        guard written.utf8.contains(UInt8(ascii: "+")) else { return false }
        let blanks = written.replacing("+", with: " ")
        return (URLEncoding.decode(blanks) ?? blanks) == name
    }
}
