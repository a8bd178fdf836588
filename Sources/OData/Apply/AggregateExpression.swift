/// One item of `aggregate` (OData Extension for Data Aggregation, section 3.2.1).
public struct AggregateExpression: Sendable, Hashable {
    /// How values become one; names that aren't the standard's are those of the service, qualified by namespace.
    public struct Method: Sendable, Hashable, RawRepresentable {
        /// The name as it is written behind `with`.
        public let rawValue: String

        /// A method by its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The sum.
        public static let sum = Method(rawValue: "sum")
        /// The smallest.
        public static let minimum = Method(rawValue: "min")
        /// The greatest.
        public static let maximum = Method(rawValue: "max")
        /// The mean.
        public static let average = Method(rawValue: "average")
        /// How many different values there are.
        public static let countDistinct = Method(rawValue: "countdistinct")
    }

    /// `from …with …`: an aggregation over groups before the one behind it.
    public struct From: Sendable, Hashable {
        /// What is grouped by.
        public var groupings: [QueryPath]
        /// How the groups' values become one; only custom aggregates may leave it out.
        public var method: Method?

        /// A step from its parts.
        public init(_ groupings: [QueryPath], with method: Method? = nil) {
            self.groupings = groupings
            self.method = method
        }
    }

    /// What is aggregated: an expression; a path to a custom aggregate; `$count`, or a path that ends with it.
    public var source: QueryExpression
    /// How; `nil` for counts and custom aggregates.
    public var method: Method?
    /// Aggregations over groups, the innermost first.
    public var from: [From]
    /// What the result is called; only custom aggregates, and ``QueryPath/Segment/aggregate(_:)``, go without.
    public var alias: String?

    /// An aggregate from its parts.
    public init(_ source: QueryExpression, with method: Method? = nil, from: [From] = [], as alias: String? = nil) {
        self.source = source
        self.method = method
        self.from = from
        self.alias = alias
    }

    /// `$count`: how many instances there are.
    public static func count(as alias: String? = nil) -> AggregateExpression {
        AggregateExpression(.path(QueryPath(segments: [.count])), as: alias)
    }
}
