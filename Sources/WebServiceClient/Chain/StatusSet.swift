/// A set of status codes: single codes, closed ranges, whole classes.
///
///     .accepting(.created)
///     .accepting([200, 304])
///     .alsoAccepting(.range(404...410))
public struct StatusSet: Sendable, Hashable, Codable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Sorted, disjoint, never touching.
    private let ranges: [ClosedRange<Int>]

    private init(normalizing ranges: [ClosedRange<Int>]) {
        var result: [ClosedRange<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 {
                result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        self.ranges = result
    }

    /// The given codes.
    public init(arrayLiteral codes: Int...) {
        self.init(normalizing: codes.map { $0...$0 })
    }

    /// The given codes.
    public static func codes(_ codes: Int...) -> StatusSet {
        StatusSet(normalizing: codes.map { $0...$0 })
    }

    /// The codes of a range, both ends included.
    public static func range(_ range: ClosedRange<Int>) -> StatusSet {
        StatusSet(normalizing: [range])
    }

    /// The codes of both sets.
    public func union(_ other: StatusSet) -> StatusSet {
        StatusSet(normalizing: ranges + other.ranges)
    }

    /// Whether a code is in the set.
    public func contains(_ code: Int) -> Bool {
        for range in ranges where range.contains(code) { return true }
        return false
    }

    /// Whether the set has no code.
    public var isEmpty: Bool { ranges.isEmpty }

    /// 200 to 299: what counts as success by default.
    public static let success = range(200...299)
    /// Every code there is: no status is an error.
    public static let any = range(100...999)
    /// 200.
    public static let ok: StatusSet = [200]
    /// 201.
    public static let created: StatusSet = [201]
    /// 202.
    public static let accepted: StatusSet = [202]
    /// 204.
    public static let noContent: StatusSet = [204]
    /// 304.
    public static let notModified: StatusSet = [304]
    /// 404.
    public static let notFound: StatusSet = [404]
    /// 300 to 399.
    public static let redirection = range(300...399)
    /// 400 to 499.
    public static let clientError = range(400...499)
    /// 500 to 599.
    public static let serverError = range(500...599)

    /// Reads the codes from pairs of the first and last code of each range, such as `[[200, 299], [304, 304]]`.
    ///
    /// - Throws: `DecodingError` if a pair has another count, or its first code is greater than the last.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var ranges: [ClosedRange<Int>] = []
        while !container.isAtEnd {
            let pair = try container.decode([Int].self)
            guard pair.count == 2, pair[0] <= pair[1] else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a range of codes is a pair of its first and its last code")
            }
            ranges.append(pair[0]...pair[1])
        }
        self.init(normalizing: ranges)
    }

    /// Writes the codes as pairs of the first and last code of each range.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for range in ranges { try container.encode([range.lowerBound, range.upperBound]) }
    }

    /// The codes as text, such as `200…299, 304`.
    public var description: String {
        ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)…\($0.upperBound)" }.joined(separator: ", ")
    }

    /// Reads what ``description`` writes; `nil` if the text is another one.
    init?(described text: some StringProtocol) {
        var set = StatusSet()
        for part in text.split(separator: ", ") {
            let ends = part.split(separator: "…", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last else { return nil }
            set = set.union(.range(first...last))
        }
        guard set.description == text else { return nil }
        self = set
    }
}
