/// How a service splits a list into pages, and how a client finds the next one. Set it with ``EndpointDescriptor/paged(by:)``.
///
///     "issues(owner:name:)": .get("/repos/%%owner%%/%%name%%/issues").paged(by: .linkHeader),
///     "customers()": .get("/customers").decoding(at: "data").paged(by: .lastID(query: "starting_after", more: "has_more")),
///
/// Paths are wire names separated by dots. They begin at the top of the payload, not at the root that the endpoint decodes.
public struct PagingStyle: EndpointAttribute, PortableAttribute, Hashable, Codable {
    enum Kind: Hashable, Codable, Sendable {
        case linkHeader(relation: String)
        case nextURL(path: String)
        case cursor(path: String, query: String?, body: String?)
        case lastID(path: String, query: String)
        case offset(query: String)
        case pageNumber(query: String, first: Int)
    }

    /// The number of items per page, and the query item that asks for it.
    struct Size: Hashable, Codable, Sendable {
        let query: String
        let count: Int
    }

    let kind: Kind
    /// The path of a Boolean value that is true if there is another page.
    var more: String?
    /// The path of the number of all items.
    var total: String?
    /// The path of the number of all pages.
    var lastPage: String?
    /// The path of the array of items; `nil` for the endpoint's root.
    var items: String?
    var size: Size?
    /// Whether an empty cursor means that there is no next page.
    var emptyEnds = true
    /// The number of pages that are fetched ahead.
    private(set) var prefetch = 0
    private(set) var pageLimit: Int?
    private(set) var itemLimit: Int?

    private init(_ kind: Kind) { self.kind = kind }

    private static func style(_ kind: Kind, _ change: (inout PagingStyle) -> Void = { _ in }) -> PagingStyle {
        var style = PagingStyle(kind)
        change(&style)
        return style
    }

    /// The `Link` field of each response has a link with the relation `next` to the next page (RFC 8288), as at GitHub, GitLab and Shopify.
    public static let linkHeader = linkHeader(relation: "next")

    /// The `Link` field of each response has a link with a relation to the next page.
    public static func linkHeader(relation: String) -> PagingStyle { style(.linkHeader(relation: relation)) }

    /// The payload has the URL of the next page, absolute or relative to the page's own. On the last page it is missing, null, false or
    /// empty.
    public static func nextURL(at path: String) -> PagingStyle { style(.nextURL(path: path)) }

    /// The payload has a cursor, which the next request sends as a query item. On the last page it is missing, null, false or empty.
    ///
    /// - Parameters:
    ///   - path: The path of the cursor.
    ///   - query: The query item.
    ///   - more: The path of a Boolean value that is false on the last page, for services that send a cursor there, too.
    ///   - emptyEnds: Whether an empty cursor means that there is no next page. Otherwise it is sent.
    public static func cursor(at path: String, query: String, more: String? = nil, emptyEnds: Bool = true) -> PagingStyle {
        style(.cursor(path: path, query: query, body: nil)) { ($0.more, $0.emptyEnds) = (more, emptyEnds) }
    }

    /// The payload has a cursor, which the next request sends as an additional member of its body, a JSON object.
    ///
    /// - Parameters:
    ///   - path: The path of the cursor.
    ///   - body: The name of the member.
    ///   - more: The path of a Boolean value that is false on the last page, for services that send a cursor there, too.
    public static func cursor(at path: String, body: String, more: String? = nil) -> PagingStyle {
        style(.cursor(path: path, query: nil, body: body)) { $0.more = more }
    }

    /// The next request sends the identifier of the last item. Without `more`, the last page is an empty one, or one with fewer items than
    /// `limit`.
    ///
    /// - Parameters:
    ///   - path: The path of the identifier in an item.
    ///   - query: The query item, such as `starting_after`.
    ///   - more: The path of a Boolean value that is false on the last page.
    ///   - limit: The number of items per page, at most the service's maximum.
    ///   - limitQuery: The query item that asks for this number.
    ///   - items: The path of the array of items. By default, the value that the endpoint decodes is this array.
    public static func lastID(
        at path: String = "id", query: String, more: String? = nil, limit: Int? = nil, limitQuery: String = "limit", items: String? = nil
    ) -> PagingStyle {
        style(.lastID(path: path, query: query)) {
            ($0.more, $0.items) = (more, items)
            $0.size = limit.map { Size(query: limitQuery, count: $0) }
        }
    }

    /// The next request sends the number of items before its page. The last page is an empty one, one with fewer items than `limit`, or the
    /// one that reaches the total.
    ///
    /// If items are added or removed between two requests, others may be repeated or missing: prefer a cursor where the service has one.
    ///
    /// - Parameters:
    ///   - query: The query item of the offset.
    ///   - limit: The number of items per page, at most the service's maximum: a service that sends fewer seems to have no more.
    ///   - limitQuery: The query item that asks for this number.
    ///   - total: The path of the number of all items.
    ///   - items: The path of the array of items. By default, the value that the endpoint decodes is this array.
    public static func offset(
        query: String = "offset", limit: Int? = nil, limitQuery: String = "limit", total: String? = nil, items: String? = nil
    ) -> PagingStyle {
        style(.offset(query: query)) {
            ($0.total, $0.items) = (total, items)
            $0.size = limit.map { Size(query: limitQuery, count: $0) }
        }
    }

    /// The next request sends the number of its page. Without `more` and `pages`, the last page is an empty one, or one with fewer items
    /// than `size`.
    ///
    /// - Parameters:
    ///   - query: The query item of the page's number.
    ///   - first: The number of the first page.
    ///   - size: The number of items per page, at most the service's maximum: a service that sends fewer seems to have no more.
    ///   - sizeQuery: The query item that asks for this number.
    ///   - more: The path of a Boolean value that is false on the last page.
    ///   - pages: The path of the number of all pages.
    ///   - items: The path of the array of items. By default, the value that the endpoint decodes is this array.
    public static func pageNumber(
        query: String = "page", first: Int = 1, size: Int? = nil, sizeQuery: String = "per_page", more: String? = nil,
        pages: String? = nil, items: String? = nil
    ) -> PagingStyle {
        style(.pageNumber(query: query, first: first)) {
            ($0.more, $0.lastPage, $0.items) = (more, pages, items)
            $0.size = size.map { Size(query: sizeQuery, count: $0) }
        }
    }

    /// Fetches the next page while the current one is in use.
    ///
    /// - Parameter pages: The number of pages that are fetched ahead: 0, the default, or 1.
    public func prefetching(_ pages: Int = 1) -> PagingStyle {
        var copy = self
        copy.prefetch = pages
        return copy
    }

    /// Limits the length of a sequence. Exceeding the limit is an error, so that a truncated list isn't taken for the whole. Use
    /// `prefix(_:)` of the sequence to read only the first items.
    ///
    /// - Parameters:
    ///   - pages: The maximum number of pages; `nil` for no limit.
    ///   - items: The maximum number of items in all pages together; `nil` for no limit.
    public func limited(pages: Int? = nil, items: Int? = nil) -> PagingStyle {
        var copy = self
        (copy.pageLimit, copy.itemLimit) = (pages, items)
        return copy
    }
}

extension PagingStyle: CustomStringConvertible {
    /// The style in the notation of its declaration. A name with a comma, a parenthesis or a quotation mark is in quotation marks.
    public var description: String {
        func call(_ name: String, _ arguments: [(String, String?)]) -> String {
            let shown = arguments.compactMap { label, value -> String? in
                guard let value else { return nil }
                let text = value.quoted(ifContaining: ",()\"")
                return label.isEmpty ? text : "\(label): \(text)"
            }
            return name + (shown.isEmpty ? "" : "(\(shown.joined(separator: ", ")))")
        }
        let limit = size.map { "\($0.query)=\($0.count)" }
        let text =
            switch kind {
            case .linkHeader(let relation): call("linkHeader", [("relation", relation == "next" ? nil : relation)])
            case .nextURL(let path): call("nextURL", [("at", path)])
            case .cursor(let path, let query, let body):
                call("cursor", [("at", path), ("query", query), ("body", body), ("more", more), ("emptyEnds", emptyEnds ? nil : "false")])
            case .lastID(let path, let query):
                call("lastID", [("at", path), ("query", query), ("more", more), ("limit", limit), ("items", items)])
            case .offset(let query): call("offset", [("query", query), ("limit", limit), ("total", total), ("items", items)])
            case .pageNumber(let query, let first):
                call(
                    "pageNumber",
                    [
                        ("query", query), ("first", first == 1 ? nil : "\(first)"), ("size", limit), ("more", more), ("pages", lastPage),
                        ("items", items),
                    ])
            }
        let limits = call(".limited", [("pages", pageLimit.map { "\($0)" }), ("items", itemLimit.map { "\($0)" })])
        return text + (prefetch == 0 ? "" : call(".prefetching", [("", "\(prefetch)")]))
            + (pageLimit == nil && itemLimit == nil ? "" : limits)
    }

    package static let firstWords = ["linkHeader", "nextURL", "cursor", "lastID", "offset", "pageNumber"]

    package init?(described text: String) {
        guard let style = Self.style(text), style.description == text else { return nil }
        self = style
    }

    private static func style(_ text: String) -> PagingStyle? {
        var text = text[...]
        /// Removes a call such as `.limited(pages: 3)` from the end, and returns its arguments.
        func last(_ name: String) -> [String: String] {
            guard text.last == ")", let start = text.ranges(of: "." + name + "(").last else { return [:] }
            defer { text = text[..<start.lowerBound] }
            return arguments(text[start.upperBound...].dropLast())
        }
        let limits = last("limited")
        let ahead = last("prefetching")[""].flatMap { Int($0) } ?? 0
        let name = text.prefix { $0 != "(" }
        let found = arguments(text.dropFirst(name.count + 1).dropLast())
        let size = (found["limit"] ?? found["size"]).flatMap { text -> (query: String, count: Int)? in
            guard let equals = text.lastIndex(of: "="), let count = Int(text[text.index(after: equals)...]) else { return nil }
            return (String(text[..<equals]), count)
        }
        let (path, query) = (found["at"] ?? "", found["query"] ?? "")
        let style: PagingStyle
        switch name {
        case "linkHeader": style = .linkHeader(relation: found["relation"] ?? "next")
        case "nextURL": style = .nextURL(at: path)
        case "cursor":
            style =
                found["body"].map { .cursor(at: path, body: $0, more: found["more"]) }
                ?? .cursor(at: path, query: query, more: found["more"], emptyEnds: found["emptyEnds"] == nil)
        case "lastID":
            style = .lastID(
                at: path, query: query, more: found["more"], limit: size?.count, limitQuery: size?.query ?? "", items: found["items"])
        case "offset":
            style = .offset(
                query: query, limit: size?.count, limitQuery: size?.query ?? "", total: found["total"], items: found["items"])
        case "pageNumber":
            style = .pageNumber(
                query: query, first: found["first"].flatMap { Int($0) } ?? 1, size: size?.count, sizeQuery: size?.query ?? "",
                more: found["more"], pages: found["pages"], items: found["items"])
        default: return nil
        }
        return style.prefetching(ahead).limited(pages: limits["pages"].flatMap { Int($0) }, items: limits["items"].flatMap { Int($0) })
    }

    /// The arguments of a call such as `at: next, query: cursor`; one without a label has an empty name.
    private static func arguments(_ text: Substring) -> [String: String] {
        var found: [String: String] = [:]
        for part in text.listed(nesting: false) {
            let (label, value) = part.divided(by: ": ") ?? ("", part)
            found[String(label)] = value.literalText ?? String(value)
        }
        return found
    }
}

extension PagingStyle {
    /// The query item of a page's place, for styles that count.
    var positionQuery: String {
        switch kind {
        case .offset(let query), .pageNumber(let query, _): query
        default: ""
        }
    }

    /// Whether the next page is found in the payload.
    fileprivate var readsPayload: Bool {
        if case .linkHeader = kind { false } else { true }
    }

    private var names: [String?] {
        let own: [String?] =
            switch kind {
            case .linkHeader(let relation): [relation]
            case .nextURL(let path): [path]
            case .cursor(let path, let query, let body): [path, query, body]
            case .lastID(let path, let query): [path, query]
            case .offset(let query), .pageNumber(let query, _): [query]
            }
        return own + [more, total, lastPage, items, size?.query]
    }

    /// The faults of the style itself, independent of its endpoint.
    fileprivate var faults: [(problem: String, fix: String)] {
        var faults: [(String, String)] = []
        if names.contains("") { faults.append(("has an empty name", "give each query item, path and relation a name")) }
        if let size, size.count < 1 { faults.append(("has pages of \(size.count) items", "use a size of 1 or more")) }
        if prefetch != 0, prefetch != 1 { faults.append(("fetches \(prefetch) pages ahead", "use .prefetching(1) or no prefetching")) }
        if let pageLimit, pageLimit < 1 { faults.append(("is limited to \(pageLimit) pages", "use a limit of 1 or more")) }
        if let itemLimit, itemLimit < 1 { faults.append(("is limited to \(itemLimit) items", "use a limit of 1 or more")) }
        return faults
    }
}

/// Finds paging styles that make no sense.
enum PagingCheck {
    /// Returns the faults in these settings.
    static func faults(_ settings: EndpointSettings, key: String?) -> [TableFault] {
        guard !settings.attributes.isEmpty, let style = settings.attributes[PagingStyle.self] else { return [] }
        var faults = style.faults.map { problem, fix in
            TableFault(kind: .badPaging, key: key, problem: "the paging\(TableFault.owner(key)) \(problem)", fix: fix)
        }
        if case .off? = settings.parsing, style.readsPayload {
            faults.append(
                TableFault(
                    kind: .badPaging, key: key, problem: "the body is .raw(), so the next page isn't found in it",
                    fix: "remove .raw(), or use .paged(by: .linkHeader)"))
        }
        return faults
    }
}

extension EndpointDescriptor {
    /// States how the endpoint's list is split into pages. A method that returns ``Pages`` or ``Items`` then reads all of them, and so does
    /// ``ServiceClient/items(of:)``; other result types get only the first page.
    ///
    ///     "issues(owner:name:)": .get("/repos/%%owner%%/%%name%%/issues").paged(by: .linkHeader.prefetching()),
    ///
    ///     func issues(owner: String, name: String) async throws -> Items<Issue> { try await call(owner, name) }
    public func paged(by style: PagingStyle) -> EndpointDescriptor {
        attribute(style)
    }
}
