// Java: records and streams.

import java.util.List;

public class Accounts {
    record Account(String owner, int balance) {}

    public static void main(String[] arguments) {
        var accounts = List.of(new Account("Ada", 120), new Account("Grace", 80), new Account("Alan", -5));
        int total = accounts.stream().mapToInt(Account::balance).sum();
        System.out.println("total: " + total);
        accounts.stream()
                .filter(account -> account.balance() < 0)
                .forEach(account -> System.out.println(account.owner() + " owes " + -account.balance()));
    }
}
