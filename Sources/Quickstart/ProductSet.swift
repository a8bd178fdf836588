import Foundation
import OData
import WebServiceTesting

/// The embedded OData service's entity set, in pages of 50.
///
/// It supports what the tutorial uses: `$filter` with comparisons joined by `and`, `$orderby` with one property, `$top` and `$select`. As
/// the protocol requires, any other option gets 501 and an OData error, never a wrong answer.
struct ProductSet: Sendable {
    static let pageSize = 50

    let products: [DynamicEntity]

    func answer(_ request: LoopbackRequest) throws -> LoopbackResponse {
        do {
            return try page(of: request)
        } catch let error as QuickstartError {
            let payload: DynamicEntity = ["error": .object(["code": "NotImplemented", "message": .string(error.description)])]
            return try .encoded(payload, status: 501)
        }
    }

    private func page(of request: LoopbackRequest) throws -> LoopbackResponse {
        var found = products
        var start = 0
        var top = products.count
        var selected: [Substring]?
        for item in request.queryItems {
            let value = item.value ?? ""
            switch item.name {
            case "$filter":
                let comparisons = try value.components(separatedBy: " and ").map { try Comparison($0) }
                found = found.filter { product in comparisons.allSatisfy { $0.holds(for: product) } }
            case "$orderby": found = try Self.sorted(found, by: value)
            case "$top": top = max(0, Int(value) ?? 0)
            case "$select": selected = value.split(separator: ",")
            case "$skiptoken": start = max(0, Int(value) ?? 0)
            default: throw QuickstartError("The shop doesn't know the option \(item.name).")
            }
        }
        found = Array(found.prefix(top))
        let rows = found.dropFirst(start).prefix(Self.pageSize).map { product in
            selected.map { names in DynamicEntity(product.properties.filter { names.contains($0.name[...]) }) } ?? product
        }
        var page: DynamicEntity = ["@odata.context": "$metadata#Products", "value": .array(rows.map { .object($0) })]
        if start + rows.count < found.count {
            // The next link is the same query with a token for the next position. Clients follow it unchanged.
            let query = (request.query ?? "").split(separator: "&").filter { !$0.hasPrefix("$skiptoken=") }
            page["@odata.nextLink"] = .string("Products?" + (query + ["$skiptoken=\(start + rows.count)"]).joined(separator: "&"))
        }
        return try .encoded(page)
    }

    private static func sorted(_ products: [DynamicEntity], by order: String) throws -> [DynamicEntity] {
        let words = order.split(separator: " ")
        guard let name = words.first.map(String.init), !order.contains(","), !order.contains("(") else {
            throw QuickstartError("The shop can't sort by \(order).")
        }
        let sorted = products.sorted { Comparison.isLess($0[name], $1[name]) }
        return words.last == "desc" ? sorted.reversed() : sorted
    }
}

/// A comparison of a property with a number or a text, such as `Price lt 20`.
private struct Comparison {
    let name: String
    let relation: Substring
    let value: ODataValue

    init(_ text: String) throws {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count == 3, ["eq", "ne", "lt", "le", "gt", "ge"].contains(words[1]) else {
            throw QuickstartError("The shop can't filter by \(text).")
        }
        name = String(words[0])
        relation = words[1]
        if let number = EdmDecimal(String(words[2])) {
            value = .decimal(number)
        } else if words[2].hasPrefix("'"), words[2].hasSuffix("'"), words[2].count > 1 {
            value = .string(words[2].dropFirst().dropLast().replacingOccurrences(of: "''", with: "'"))
        } else {
            throw QuickstartError("The shop can't compare with \(words[2]).")
        }
    }

    func holds(for product: DynamicEntity) -> Bool {
        let isLess = Self.isLess(product[name], value)
        let isGreater = Self.isLess(value, product[name])
        switch relation {
        case "eq": return !isLess && !isGreater
        case "ne": return isLess || isGreater
        case "lt": return isLess
        case "le": return !isGreater
        case "gt": return isGreater
        default: return !isLess
        }
    }

    static func isLess(_ one: ODataValue?, _ other: ODataValue?) -> Bool {
        if let one = one?.decimal, let other = other?.decimal { return one < other }
        return (one?.string ?? "") < (other?.string ?? "")
    }
}
