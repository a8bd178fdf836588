public import Foundation

// What stands in JSON by itself. Numbers, dates and data are read as for `Decodable`: exactly, and by the reader's strategies.

extension Bool: JSONReadable {
    /// A Boolean.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.bool(at: json.place) }
}

extension String: JSONReadable {
    /// A string.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.string(at: json.place) }
}

extension Double: JSONReadable {
    /// The nearest number.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.double(at: json.place) }
}

extension Float: JSONReadable {
    /// The nearest number.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.float(at: json.place) }
}

extension Int: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int8: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int16: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int32: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Int64: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt8: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt16: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt32: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension UInt64: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: JSONReadable {
    /// A whole number that fits.
    public init(from json: borrowing JSONCursor) throws { self = try json.document.integer(at: json.place) }
}

extension Decimal: JSONReadable {
    /// The number with all of its digits.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Decimal.self) }
}

extension Date: JSONReadable {
    /// A date, by the reader's strategy.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Date.self) }
}

extension Data: JSONReadable {
    /// Data, by the reader's strategy.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(Data.self) }
}

extension URL: JSONReadable {
    /// A URL as a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(URL.self) }
}

extension UUID: JSONReadable {
    /// A UUID as a string.
    public init(from json: borrowing JSONCursor) throws { self = try json.decode(UUID.self) }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// `nil` for null.
    @inlinable public init(from json: borrowing JSONCursor) throws { self = json.isNull ? nil : try Wrapped(from: json) }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// The elements of an array.
    @inlinable public init(from json: borrowing JSONCursor) throws {
        self = []
        let room = json.takeRoom(forElementsOf: MemoryLayout<Element>.stride)
        defer { json.giveBackRoom(for: room, elementsOf: MemoryLayout<Element>.stride) }
        reserveCapacity(room)
        try json.forEachElement { append(try Element(from: $0)) }
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// The members of an object.
    public init(from json: borrowing JSONCursor) throws {
        self = [:]
        let room = json.takeRoom(forElementsOf: MemoryLayout<(String, Value)>.stride)
        defer { json.giveBackRoom(for: room, elementsOf: MemoryLayout<(String, Value)>.stride) }
        reserveCapacity(room)
        try json.forEachMember { self[$0] = try Value(from: $1) }
    }
}

extension JSONReadable where Self: RawRepresentable, RawValue: JSONReadable {
    /// The value of a raw one, as enumerations have them.
    ///
    /// - Throws: `DecodingError.dataCorrupted` when there is none.
    public init(from json: borrowing JSONCursor) throws {
        let raw = try RawValue(from: json)
        guard let value = Self(rawValue: raw) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: json.codingPath, debugDescription: "No \(Self.self) has the raw value “\(ValueText.text(of: raw))”."))
        }
        self = value
    }
}
