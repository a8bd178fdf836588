import RemoteLogger

/// Records as a web server logs them, with five values and random 128-bit identifiers: the basis of the `log-shipping` figures.
struct Corpus: Sendable {
    struct Entry: Sendable {
        let message: String
        let metadata: LogMetadata
        let trace: TraceContext?
    }

    let entries: [Entry]

    init(_ count: Int) {
        var generator = SeededGenerator(state: 5)
        let methods = ["GET", "GET", "GET", "POST", "PUT", "DELETE"]
        let routes = ["/orders/{id}", "/orders", "/customers/{id}", "/products/{id}/prices", "/health"]
        let statuses = [200, 200, 200, 200, 201, 204, 304, 404, 500]
        entries = (0..<count).map { _ in
            let method = methods.randomElement(using: &generator) ?? "GET"
            let route = routes.randomElement(using: &generator) ?? "/"
            let status = statuses.randomElement(using: &generator) ?? 200
            let request = Self.hex(generator.next()) + Self.hex(generator.next())
            return Entry(
                message: "\(method) \(route) \(status)",
                metadata: [
                    "http.method": method, "http.route": route, "http.status": status,
                    "duration_ms": Double(Int.random(in: 100...99_999, using: &generator)) / 100, "request.id": request,
                ],
                trace: TraceContext(traceHigh: generator.next(), traceLow: generator.next()))
        }
    }

    private static func hex(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
