/// A duration: `Edm.Duration`, such as `-P1DT2H3M4.5S`, with more digits than OData's twelve.
///
/// Any coder decodes and encodes it as its text. Only ``ODataDecoder`` and ``ODataEncoder`` use this form for a plain `Duration`; other
/// coders use Swift's form.
public struct EdmDuration: Sendable, Hashable {
    /// The duration; days have 24 hours.
    public let duration: Duration

    /// Creates a value from a duration.
    public init(_ duration: Duration) {
        self.duration = duration
    }

    /// Parses `-P1DT2H3M4.5S`; `nil` for other texts, and beyond the 292 billion years of `Duration`.
    public init?(_ text: String) {
        guard let duration = NumberText.duration(text) else { return nil }
        self.duration = duration
    }
}

extension EdmDuration: Comparable {
    /// Returns whether the left duration is shorter; negative ones are shorter than zero.
    public static func < (left: EdmDuration, right: EdmDuration) -> Bool {
        left.duration < right.duration
    }
}

extension EdmDuration: CustomStringConvertible {
    /// The text `-P1DT2H3M4.5S`, without zero parts.
    public var description: String { LiteralText.duration(duration) }
}

extension EdmDuration: Codable {
    /// Decodes the text.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(
            from: decoder, by: { NumberText.duration(payload: $0).map { EdmDuration($0) } }, like: "a duration such as P1DT2H3M4.5S")
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmDuration: PropertySample {
    /// Returns a duration that differs for each number.
    public static func propertySample(_ number: Int) -> EdmDuration? {
        EdmDuration(.seconds(number))
    }
}
