import WebServiceClient

/// A nested value of an entity.
struct Address: Decodable, Equatable, Sendable {
    var street: String
    var city: String

    enum CodingKeys: String, CodingKey { case street = "Street", city = "City" }
}

/// The same value, decoded as `JSONReadable`.
struct DirectAddress: JSONReadable, Sendable {
    var street: String
    var city: String

    init(from json: borrowing JSONCursor) throws {
        street = try json.read("Street")
        city = try json.read("City")
    }
}
