import Foundation
import OData
import WebServiceClient

/// Rows as text in aligned columns; numbers are right-aligned.
struct Table: CustomStringConvertible {
    /// The maximum number of characters in a cell; longer texts are truncated.
    static let widestCell = 36

    let columns: [String]
    let rows: [[String]]

    init(columns: [String], rows: [[String]]) {
        self.columns = columns
        self.rows = rows
    }

    /// Makes a table of entities without a Swift type: a column for each property with plain values, up to eight.
    init(_ entities: [DynamicEntity]) {
        let entities = entities.map(\.withoutAnnotations)
        var names: [String] = []
        for property in entities.flatMap(\.properties) where !names.contains(property.name) {
            if property.value.array == nil, property.value.object == nil { names.append(property.name) }
        }
        let shown = Array(names.prefix(8))
        self.init(columns: shown, rows: entities.map { entity in shown.map { entity[$0]?.shown ?? "" } })
    }

    var description: String {
        let lines = [columns] + rows
        let widths = columns.indices.map { column in
            lines.map { min($0[column].count, Self.widestCell) }.max() ?? 0
        }
        let isNumeric = columns.indices.map { column in
            rows.allSatisfy { $0[column].isEmpty || Double($0[column]) != nil }
        }
        var text = lines.map { cells in
            let padded = columns.indices.map { column in
                Self.padded(cells[column], to: widths[column], right: isNumeric[column])
            }
            var line = "  " + padded.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        text.insert("  " + widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "), at: 1)
        return text.joined(separator: "\n")
    }

    private static func padded(_ cell: String, to width: Int, right: Bool) -> String {
        let cut = cell.count > widestCell ? cell.prefix(widestCell - 1) + "…" : cell[...]
        let blanks = String(repeating: " ", count: max(0, width - cut.count))
        return right ? blanks + cut : cut + blanks
    }
}

extension ODataValue {
    /// The value for display, on one line.
    var shown: String {
        switch self {
        case .null: ""
        case .boolean(let value): String(value)
        case .integer(let value): String(value)
        case .decimal(let value): "\(value)"
        case .string(let value): value.split(whereSeparator: \.isNewline).joined(separator: " ")
        case .array(let values): "[" + values.map(\.shown).joined(separator: ", ") + "]"
        case .object(let entity): "{" + entity.properties.map { "\($0.name): \($0.value.shown)" }.joined(separator: ", ") + "}"
        }
    }
}

/// Prints a line for each call: status, time, method and path.
///
/// An interceptor wraps the rest of the chain. The interceptors of a client run once per call, around redirects, retries and
/// authentication, so the measured time is the caller's wait for the head of the response.
struct CallPrinter: Interceptor {
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            line(String(response.status), request, since: start)
            return response
        } catch {
            line(" — ", request, since: start)
            throw error
        }
    }

    private func line(_ status: String, _ request: ServiceRequest, since start: ContinuousClock.Instant) {
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        let time = String(format: "%7.1f ms", milliseconds)
        let method = request.method.rawValue.padding(toLength: 5, withPad: " ", startingAt: 0)
        let target = request.target.removingPercentEncoding ?? request.target
        print("  \(status)  \(time)  \(method) \(target.count > 100 ? target.prefix(99) + "…" : target[...])")
    }
}
