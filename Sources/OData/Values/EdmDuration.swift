/// A length of time: `Edm.Duration`, such as `-P1DT2H3M4.5S`, exact to more digits than the twelve that OData has.
///
/// It is decoded from and encoded as its text, with any coder. A plain `Duration` is read and written as such a text by ``ODataDecoder`` and
/// ``ODataEncoder`` only: other coders know Swift's own form.
public struct EdmDuration: Sendable, Hashable {
    /// The length; days have 24 hours.
    public let duration: Duration

    /// A length of time.
    public init(_ duration: Duration) {
        self.duration = duration
    }

    /// Reads `-P1DT2H3M4.5S`; `nil` for other texts, and beyond the 292 billion years that `Duration` holds.
    public init?(_ text: String) {
        guard let duration = NumberText.duration(text) else { return nil }
        self.duration = duration
    }
}

extension EdmDuration: Comparable {
    /// Whether the left one is the shorter one; negative ones are shorter than zero.
    public static func < (left: EdmDuration, right: EdmDuration) -> Bool {
        left.duration < right.duration
    }
}

extension EdmDuration: CustomStringConvertible {
    /// `-P1DT2H3M4.5S`, without parts that are zero.
    public var description: String { LiteralWriter.duration(duration) }
}

extension EdmDuration: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .duration(duration) }
}

extension EdmDuration: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(
            from: decoder, by: { NumberText.duration(payload: $0).map { EdmDuration($0) } }, like: "a duration such as P1DT2H3M4.5S")
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmDuration: PropertySample {
    /// A duration that differs for each number.
    public static func propertySample(_ number: Int) -> EdmDuration? {
        EdmDuration(.seconds(number))
    }
}
