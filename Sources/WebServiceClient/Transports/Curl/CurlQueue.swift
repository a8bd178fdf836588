/// Exchanges that wait for their turn: first in, first out. Its memory is kept while it is empty, as it is between most exchanges.
struct CurlQueue<Exchange> {
    private var exchanges: [Exchange?] = []
    private var first = 0

    /// Whether none waits.
    var isEmpty: Bool { first == exchanges.count }

    /// Those that wait, in their order.
    var waiting: some Sequence<Exchange> { exchanges[first...].lazy.compactMap(\.self) }

    /// How many wait.
    var count: Int { exchanges.count - first }

    /// Takes those out that aren't to stay.
    mutating func keep(_ stays: (Exchange) -> Bool) {
        exchanges = exchanges[first...].filter { $0.map(stays) ?? false }
        first = 0
    }

    /// Adds one behind the others.
    mutating func append(_ exchange: Exchange) {
        // A queue that never gets empty moves up now and then.
        if first > 64, first > exchanges.count / 2 {
            exchanges.removeFirst(first)
            first = 0
        }
        exchanges.append(exchange)
    }

    /// Takes the one that has waited longest; `nil` when none waits.
    mutating func popFirst() -> Exchange? {
        guard first < exchanges.count else { return nil }
        let exchange = exchanges[first]
        exchanges[first] = nil
        first += 1
        if first == exchanges.count {
            exchanges.removeAll(keepingCapacity: true)
            first = 0
        }
        return exchange
    }
}
