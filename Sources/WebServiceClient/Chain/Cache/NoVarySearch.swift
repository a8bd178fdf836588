import Foundation

/// A response's `No-Vary-Search`: the differences between queries that don't change the response (draft-ietf-httpbis-no-vary-search).
///
///     No-Vary-Search: key-order, params=("utm_source" "utm_medium")
///
/// The cache stores such a response under a canonical URL, in which the query has only the parameters that matter. A malformed field counts
/// as absent.
struct NoVarySearch: Sendable, Hashable {
    /// The parameters that matter.
    enum Parameters: Sendable, Hashable {
        /// All but these.
        case allBut(Set<[UInt8]>)
        /// Only these.
        case only(Set<[UInt8]>)
    }

    let parameters: Parameters
    /// Whether the order of parameters with different names matters.
    let isOrdered: Bool

    /// The rule of an ordinary response: the whole query matters.
    private static let standard = NoVarySearch(parameters: .allBut([]), isOrdered: true)

    private init(parameters: Parameters, isOrdered: Bool) {
        self.parameters = parameters
        self.isOrdered = isOrdered
    }

    /// Reads the field; `nil` if it is absent or malformed, or changes nothing.
    init?(in headers: HTTPFields) {
        guard headers.contains(Self.field), let members = try? StructuredFields.dictionary(headers[values: Self.field]) else { return nil }
        var isOrdered = true
        if let member = members["key-order"] {
            guard let isUnordered = member.item?.value.boolean else { return nil }
            isOrdered = !isUnordered
        }
        var parameters = Parameters.allBut([])
        switch members["params"] {
        case nil: break
        case .item(let item)?:
            guard let isFree = item.value.boolean else { return nil }
            if isFree { parameters = .only([]) }
        case .innerList(let list)?:
            guard let names = Self.names(list) else { return nil }
            parameters = .allBut(names)
        }
        if let member = members["except"] {
            guard parameters == .only([]), case .innerList(let list) = member, let names = Self.names(list) else { return nil }
            parameters = .only(names)
        }
        let result = NoVarySearch(parameters: parameters, isOrdered: isOrdered)
        guard result != Self.standard else { return nil }
        self = result
    }

    static let field: HTTPFields.Name = "No-Vary-Search"

    private static func names(_ list: StructuredFields.InnerList) -> Set<[UInt8]>? {
        var names: Set<[UInt8]> = []
        for item in list.items {
            guard case .string(let text) = item.value else { return nil }
            names.insert(decoded(Array(text.utf8)[...]))
        }
        return names
    }

    // MARK: URLs

    /// The canonical form of a key's URL. Two URLs with the same response have the same canonical form.
    func canonical(_ url: String) -> String {
        let (base, query) = Self.split(url)
        var pairs = Self.pairs(query).filter { pair in
            switch parameters {
            case .allBut(let names): !names.contains(pair.name)
            case .only(let names): names.contains(pair.name)
            }
        }
        if !isOrdered {
            // Values of one name keep their order.
            pairs = pairs.enumerated().sorted { left, right in
                left.element.name == right.element.name
                    ? left.offset < right.offset : left.element.name.lexicographicallyPrecedes(right.element.name)
            }.map(\.element)
        }
        guard !pairs.isEmpty else { return base }
        var bytes = Array(base.utf8)
        for (index, pair) in pairs.enumerated() {
            bytes.append(UInt8(ascii: index == 0 ? "?" : "&"))
            for byte in pair.name { URLEncoding.append(byte, to: &bytes, allowing: .unreserved) }
            bytes.append(UInt8(ascii: "="))
            for byte in pair.value { URLEncoding.append(byte, to: &bytes, allowing: .unreserved) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A key's URL without its query. All URLs that may have the same response share it.
    static func base(of url: String) -> String { split(url).base }

    private static func split(_ url: String) -> (base: String, query: Substring.UTF8View) {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (url, ""[...].utf8) }
        return (String(url[..<mark]), url[url.utf8.index(after: mark)...].utf8)
    }

    /// The parameters of a query, as the URL standard parses forms: every query is valid.
    private static func pairs(_ query: Substring.UTF8View) -> [(name: [UInt8], value: [UInt8])] {
        query.split(separator: UInt8(ascii: "&")).map { piece in
            let bytes = Array(piece)
            let end = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.count
            return (decoded(bytes[..<end]), decoded(bytes[end...].dropFirst()))
        }
    }

    /// Replaces each `+` with a space and each `%XX` with its byte. Bytes that aren't UTF-8 become U+FFFD; the result is comparable byte by
    /// byte.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                result.append(UInt8(ascii: " "))
            } else if byte == URLEncoding.percent, rest.count >= 2, let high = rest[rest.startIndex].hexadecimal,
                let low = rest[rest.startIndex + 1].hexadecimal
            {
                result.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return Array(String(decoding: result, as: UTF8.self).utf8)
    }
}

/// The `No-Vary-Search` fields that a cache has seen, by URL without the query. A lookup needs the field before it knows which response to
/// look for. The fields aren't stored: in each run of the program, the first response has them again.
struct SearchVariances: Sendable {
    /// The number of URLs whose fields are kept.
    static let limit = 1_000

    private var known: [String: NoVarySearch] = [:]

    /// Notes the field of a response. An outdated field does no harm, because each stored response is compared by its own field.
    mutating func note(_ variance: NoVarySearch, of url: String) {
        let base = NoVarySearch.base(of: url)
        if known.count >= Self.limit, known[base] == nil { known = [:] }
        known[base] = variance
    }

    /// The canonical form of a URL, if it differs from the URL.
    func canonical(_ url: String) -> String? {
        guard !known.isEmpty, let variance = known[NoVarySearch.base(of: url)] else { return nil }
        let canonical = variance.canonical(url)
        return canonical == url ? nil : canonical
    }
}

@_spi(Fuzzing) extension ResponseCache {
    /// The canonical form of a URL by a `No-Vary-Search`; `nil` if the field is malformed, or changes nothing.
    public static func canonical(_ url: String, noVarySearch field: String) -> String? {
        NoVarySearch(in: [NoVarySearch.field: field])?.canonical(url)
    }
}
