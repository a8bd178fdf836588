import Foundation
import OData

struct Person: Decodable, Sendable, EntityType {
    static let entitySetName = "People"

    let userName: String
    let name: String
    let lastName: String
    let age: Int?
    let isActive: Bool
    let isHidden: Bool
    let gender: Gender
    let favourite: Gender?
    let emails: [String]
    let address: Address?
    let home: Address
    let bestFriend: BestFriend?
    let friends: [Person]?
    let trips: [Trip]
    let registered: Date

    /// Renamed, with two deliberately swapped names.
    enum CodingKeys: String, CodingKey {
        case userName = "UserName"
        case name = "LastName"
        case lastName = "Name"
        case age = "Age"
        case isActive = "IsActive"
        case isHidden = "IsHidden"
        case gender = "Gender"
        case favourite = "Favourite"
        case emails = "Emails"
        case address = "Address"
        case home = "Home"
        case bestFriend = "BestFriend"
        case friends = "Friends"
        case trips = "Trips"
        case registered = "Registered"
    }

    var familyName: String { lastName }
    var isVisible: Bool { !isHidden }
    var planet: String { "Earth" }
    var fullName: String { name + lastName }
}

enum Gender: String, Decodable, Sendable, CaseIterable, EdmEnumeration {
    static let edmTypeName = "Trippin.Gender"
    case female = "Female"
    case male = "Male"
    case unknown = "Unknown"
}

struct Address: Decodable, Sendable {
    let city: String
    let country: Country?

    enum CodingKeys: String, CodingKey {
        case city = "City"
        case country = "Country"
    }
}

struct Country: Decodable, Sendable {
    let code: String

    enum CodingKeys: String, CodingKey {
        case code = "Code"
    }
}

final class BestFriend: Decodable, Sendable {
    let nick: String
    let age: Int?
    let friend: BestFriend?

    enum CodingKeys: String, CodingKey {
        case nick = "Nick"
        case age = "Age"
        case friend = "Friend"
    }
}

struct Trip: Decodable, Sendable {
    let id: UUID
    let budget: Double
    let price: Decimal
    let startsAt: Date
    let day: EdmDate
    let opens: EdmTimeOfDay
    let tags: [String]
    let stops: [Stop]

    enum CodingKeys: String, CodingKey {
        case id = "TripId"
        case budget = "Budget"
        case price = "Price"
        case startsAt = "StartsAt"
        case day = "Day"
        case opens = "Opens"
        case tags = "Tags"
        case stops = "Stops"
    }
}

struct Stop: Decodable, Sendable {
    let place: String
    let nights: Int

    enum CodingKeys: String, CodingKey {
        case place = "Place"
        case nights = "Nights"
    }
}

/// The text of a filter, percent-decoded for readability.
func filterText(_ build: (QueryTerm<Person>) -> QueryTerm<Bool>, version: ODataVersion = .v4) throws -> String? {
    let request = FetchRequest<Person>().filter(build)
    guard let filter = request.options.filter else { return nil }
    return try QueryPrinter(version: version).text(of: filter).removingPercentEncoding
}
