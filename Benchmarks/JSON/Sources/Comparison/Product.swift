import WebServiceClient

/// An entity of a page.
struct Product: Decodable, Equatable, Sendable {
    var id: Int
    var name: String
    var description: String
    var price: Double
    var rating: Int
    var isDiscontinued: Bool
    var releaseDate: String
    var category: String?
    var address: Address

    enum CodingKeys: String, CodingKey {
        case id = "ID", name = "Name", description = "Description", price = "Price", rating = "Rating", isDiscontinued = "Discontinued"
        case releaseDate = "ReleaseDate", category = "Category", address = "Address"
    }
}

/// The same entity, decoded as `JSONReadable`.
struct DirectProduct: Sendable {
    var id: Int
    var name: String
    var description: String
    var price: Double
    var rating: Int
    var isDiscontinued: Bool
    var releaseDate: String
    var category: String?
    var address: DirectAddress
}

extension DirectProduct: JSONReadable {
    init(from json: borrowing JSONCursor) throws {
        self.init(
            id: try json.read("ID"), name: try json.read("Name"), description: try json.read("Description"), price: try json.read("Price"),
            rating: try json.read("Rating"), isDiscontinued: try json.read("Discontinued"), releaseDate: try json.read("ReleaseDate"),
            category: try json.readIfPresent("Category"), address: try json.read("Address"))
    }
}
