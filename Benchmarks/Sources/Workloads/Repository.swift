/// The type of the large body, with the strings, numbers, lists and nested objects of typical services.
public struct Repository: Decodable, Sendable {
    /// A person or an organisation.
    public struct Owner: Decodable, Sendable {
        /// The name.
        public let login: String
        /// The number.
        public let id: Int
        /// The URL of the picture.
        public let avatar: String
        /// Whether the owner runs the site.
        public let isAdministrator: Bool
    }

    /// A label with a color.
    public struct Label: Decodable, Sendable {
        /// The number.
        public let id: Int
        /// The name.
        public let name: String
        /// The color.
        public let color: String
    }

    /// The number.
    public let id: Int
    /// The name.
    public let name: String
    /// The name, prefixed with the owner's.
    public let fullName: String
    /// The description.
    public let description: String?
    /// The owner.
    public let owner: Owner
    /// The topics.
    public let topics: [String]
    /// The labels of its issues.
    public let labels: [Label]
    /// The number of watchers.
    public let watchers: Int
    /// A ratio.
    public let score: Double
    /// Whether it is private.
    public let isPrivate: Bool
}

/// The type of the small body.
public struct Health: Decodable, Sendable {
    /// The number.
    public let id: Int
    /// The name.
    public let name: String
    /// Whether the service is healthy.
    public let isActive: Bool
}
