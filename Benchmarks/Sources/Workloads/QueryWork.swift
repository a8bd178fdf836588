import Foundation
public import OData
import ODataQueryParsing

/// A trip.
public struct Trip: Decodable, Sendable {
    /// The number.
    public let tripId: Int
    /// The name.
    public let name: String
    /// The budget.
    public let budget: Double
}

/// A traveler.
public struct Person: EntityType {
    /// The entity set.
    public static let entitySetName = "People"
    /// The user name in the service.
    public let userName: String
    /// The last name.
    public let lastName: String
    /// The age in years.
    public let age: Int
    /// The trips.
    public let trips: [Trip]
}

/// A typed fetch request: building it and printing it as a URL.
public struct QueryWork: Sendable {
    private let request: FetchRequest<Person>
    private let printer = QueryPrinter()
    private let parser = QueryParser()
    private static let text =
        "People?$filter=age%20gt%2021%20and%20startswith(lastName,%27O%27%27%27)%20or%20trips/any(x1:x1/budget%20ge%201000.0)"
        + "&$select=userName,lastName,age&$expand=trips($select=tripId,name,budget;$orderby=budget%20desc;$top=3)&$orderby=lastName&$top=20"

    /// Builds the request once, to fill the caches for its types.
    public init() {
        request = Self.build(21)
    }

    /// Builds the request.
    private static func build(_ age: Int) -> FetchRequest<Person> {
        FetchRequest<Person>()
            .filter { $0.age > age && $0.lastName.hasPrefix("O'") || $0.trips.any { $0.budget >= 1_000 } }
            .expand(\.trips) { $0.order(by: .descending(\.budget)).top(3) }
            .order(by: .ascending(\.lastName)).top(20)
    }

    /// Builds a request and prints it.
    public func buildAndPrint() throws -> String {
        try Self.build(21).relativeURL(using: printer)
    }

    /// Prints the request built earlier.
    public func print() throws -> String {
        try request.relativeURL(using: printer)
    }

    /// Parses the URL of such a request.
    public func parse() throws -> Int? {
        try parser.query(Self.text).options.top
    }
}
